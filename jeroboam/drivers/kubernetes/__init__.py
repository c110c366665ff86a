"""Kubernetes as such: labels, kubeadm, what may change; no matter which engine builds it."""
