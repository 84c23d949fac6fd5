"""The only place that knows everything."""
