"""Task lists in YAML."""
