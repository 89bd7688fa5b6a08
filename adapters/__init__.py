"""Everything outside, one folder or module per thing; each implements a port of the core."""
