"""What this GitHub knows and does, whichever face asked for it."""
