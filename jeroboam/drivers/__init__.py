"""Drivers build clusters; ``base`` is their contract, ``registry`` finds and selects them."""
