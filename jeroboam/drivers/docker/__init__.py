"""Docker on nodes: what the COEs share whose nodes run it."""
