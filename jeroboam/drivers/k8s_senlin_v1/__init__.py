"""Kubernetes on Ubuntu, whose node groups are clusters of Senlin's."""
