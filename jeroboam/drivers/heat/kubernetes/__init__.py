"""What all Kubernetes drivers on Heat have in common."""
