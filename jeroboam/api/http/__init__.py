"""Magnum's REST API v1 and Jeroboam's extensions."""
