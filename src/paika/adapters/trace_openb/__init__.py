"""Traces of Alibaba's clusters as cluster-trace-gpu-v2023 (openb) has them: pods, machines, orders of arrival."""
