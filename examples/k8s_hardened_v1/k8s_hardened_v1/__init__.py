"""Kubernetes on Ubuntu with hardened nodes: an example of a driver outside of Jeroboam."""
