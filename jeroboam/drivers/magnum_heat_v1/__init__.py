"""Clusters that Magnum's Heat drivers have built, up to Magnum 22."""
