"""Kubernetes on Fedora CoreOS, built by Heat."""
