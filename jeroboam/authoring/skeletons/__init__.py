"""What new projects begin with."""
