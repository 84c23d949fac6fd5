"""Ascend cards, through npu-smi."""
