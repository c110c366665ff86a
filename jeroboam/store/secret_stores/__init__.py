"""Where the secrets of clusters are kept."""
