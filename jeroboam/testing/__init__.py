"""Shipped test tools: the driver compliance suite."""
