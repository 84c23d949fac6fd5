"""A hard end to waiting: shared by adapters that look at things which may hang."""
