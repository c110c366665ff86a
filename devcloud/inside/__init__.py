"""What runs inside the services' own virtual environment, next to OpenStack's code."""
