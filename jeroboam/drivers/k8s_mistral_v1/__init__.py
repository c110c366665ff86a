"""Kubernetes on Ubuntu, built by workflows of Mistral."""
