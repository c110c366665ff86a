"""Docker Swarm on Heat."""
