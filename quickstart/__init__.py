"""Runs all of Jeroboam on one machine and creates a first cluster on it."""
