"""The command line: the only place that builds everything."""
