"""Builds Kubernetes' own servers from their Go modules, once per machine."""
