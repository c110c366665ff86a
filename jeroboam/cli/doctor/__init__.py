"""Looks at everything that the service needs, and says what is wrong and how to mend it."""
