"""The workflows decide and wait; nothing else."""
