"""zerda-bench."""
