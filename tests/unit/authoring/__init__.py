"""Tests of the tools for driver authors."""
