"""The outside world, one thing a file; installed as ``mrag.adapters``."""
