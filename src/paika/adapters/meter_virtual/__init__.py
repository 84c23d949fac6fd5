"""Virtual cards, for trying things out without any hardware."""
