"""Docker Swarm: what its clusters are made of, whichever backend makes the servers."""
