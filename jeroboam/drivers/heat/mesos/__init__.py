"""Mesos with Marathon on Heat."""
