"""How fast things are, always beside the plain way to do the same. `python -m tests.bench`."""
