"""Trained models and agents without JAX: `minaction.runtimes.numpy`, `.torch` and `.onnx` read the same files.

They import nothing of the package but its errors. What a model computes is written down once, in `_formulas`, and each
runtime says how it carries out the few operations that the formulas are made of.
"""
