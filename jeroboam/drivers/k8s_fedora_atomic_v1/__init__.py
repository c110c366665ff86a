"""Kubernetes on Fedora Atomic, built by Heat."""
