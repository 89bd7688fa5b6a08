"""A git library: mirrors, worktrees and snapshots. Knows sweeper.model, sweeper.errors and sweeper.ids only."""
