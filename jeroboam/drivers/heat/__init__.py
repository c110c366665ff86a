"""What all drivers on Heat have in common."""
