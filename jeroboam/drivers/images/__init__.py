"""How images get from where a system publishes them into Glance; shared by all drivers."""
