"""Workflows: they decide what happens next and do nothing themselves."""
