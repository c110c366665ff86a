"""Activities: each delegates to one driver method, hook or store call."""
