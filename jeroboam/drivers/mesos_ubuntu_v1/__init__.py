"""Mesos with Marathon on Ubuntu, built by Heat."""
