"""The same planner under another clock."""
