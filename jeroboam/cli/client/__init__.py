"""Commands that talk to the service over its HTTP API, and to nothing else of the product."""
