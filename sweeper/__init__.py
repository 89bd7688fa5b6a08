"""CI Sweeper: one durable workflow per failing CI run, from the webhook to the last clean-up."""

__version__ = "0.1.0"
