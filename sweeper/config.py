"""Settings of the service, read once by the cli and passed down."""
