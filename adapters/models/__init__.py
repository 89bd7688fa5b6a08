"""Language models: the door by which command agents reach one, and a recorded one for tests."""
