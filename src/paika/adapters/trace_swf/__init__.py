"""Traces in the Standard Workload Format of the Parallel Workloads Archive."""
