"""The outside world, one technology a package."""
