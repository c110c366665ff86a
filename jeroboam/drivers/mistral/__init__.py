"""Mistral as the engine of drivers."""
