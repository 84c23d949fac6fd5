"""The doors: web API, board, command line, Python client."""
