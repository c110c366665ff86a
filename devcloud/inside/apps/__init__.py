"""One module per service; each has ``build(layout)``, which returns the WSGI application.

``build`` creates the service's databases first if ``layout.prepared(service)`` is missing,
and starts whatever stands behind the API (engine, conductor, compute) in the same process,
because the in-memory message transport ends at the process.
"""
