"""How the world talks to Jeroboam."""
