"""The one finding that is no cheat: a change too large to be reviewed goes to a human as it is."""

DIFF_TOO_LARGE = "diff_too_large"
