"""Names for those who give none."""

import secrets

_LETTERS = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi"),
    *("chi", "psi", "omega"),
)
_HIGHEST = 24


def generate(suffix: str) -> str:
    """Return a name such as ``zeta-22-cluster``."""
    number = 1 + secrets.randbelow(_HIGHEST)
    return f"{secrets.choice(_LETTERS)}-{number}-{suffix}"
