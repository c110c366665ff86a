"""The fault harness: real processes that are killed while operations run, and an oracle.

``make chaos ARGS="--rounds 100 --seed 42"`` runs it; ``test_chaos.py`` runs a few fixed rounds.
"""
