"""What wraps every request, from the outside in: request context, body, identity, version."""
