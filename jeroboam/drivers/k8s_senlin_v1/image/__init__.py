"""How the driver's image gets into Glance; see README.md."""
