"""What clusters on Heat share whose nodes run Docker."""
