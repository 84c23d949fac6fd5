"""The inventory as a YAML file."""
