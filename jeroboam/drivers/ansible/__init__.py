"""Ansible as the engine of drivers."""
