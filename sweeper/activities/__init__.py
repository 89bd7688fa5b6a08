"""Activities: look, act if not yet done, return a small model."""
