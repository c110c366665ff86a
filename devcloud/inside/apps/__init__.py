"""One module per process.

Each has ``build(layout)``, which returns the WSGI applications by service name. It creates
the databases first if ``layout.prepared(service)`` is missing, and starts whatever stands
behind the API (engine, conductor, compute) in the same process, because the in-memory
message transport ends at the process. A module may also have ``stop()``, which lets the back
end finish what it is at.
"""
