"""Generated examples are the same in each run and have no deadline: a busy machine must not turn a test red."""

from hypothesis import settings

settings.register_profile("steady", max_examples=50, derandomize=True, deadline=None, database=None)
settings.load_profile("steady")
