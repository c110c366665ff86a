"""Clusters of servers that an engine other than Heat brings about."""
