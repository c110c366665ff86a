"""The harness's second world: the Fedora CoreOS driver on a devcloud, asked from outside."""
