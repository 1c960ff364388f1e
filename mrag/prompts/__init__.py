"""Every prompt text, a file for each task, and nothing else."""
