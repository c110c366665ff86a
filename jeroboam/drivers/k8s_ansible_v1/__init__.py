"""Kubernetes on Ubuntu, built by playbooks of Ansible."""
