"""What a run of a check proves: counted tests, and whether what is counted agrees with how the run ended."""
