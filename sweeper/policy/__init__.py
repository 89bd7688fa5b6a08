"""Pure decisions: no clock, no IO. What they need to know is passed in."""
