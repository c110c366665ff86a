"""gRPC: the HTTP API in protocol buffers, and streams of what changes."""
