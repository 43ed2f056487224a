"""Placeholder until the fusion kernels land."""
