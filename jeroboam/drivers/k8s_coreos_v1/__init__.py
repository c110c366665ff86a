"""Kubernetes on Flatcar, the heir of CoreOS Container Linux, built by Heat."""
