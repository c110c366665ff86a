"""Clusters that are files: a driver without a backend, to begin with."""
