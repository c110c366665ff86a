"""Modules that ``python -m tools.protos`` makes of the protocol buffers; never edited."""
