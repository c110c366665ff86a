"""Programs that work on the checkout itself; standard library only."""
