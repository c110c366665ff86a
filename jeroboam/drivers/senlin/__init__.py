"""Senlin as the engine of drivers."""
