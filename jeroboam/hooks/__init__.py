"""Hooks act before and after operations; ``base`` is their contract."""
