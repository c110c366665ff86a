"""Docker Swarm on Fedora Atomic, built by Heat."""
