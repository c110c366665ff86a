"""Kubernetes on Ubuntu, built by Heat."""
