"""The documentation is checked like code."""
