"""Put on the path of playbooks; see its only module."""
