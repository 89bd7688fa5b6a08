"""Pages for a browser: repositories, pulls, one pull request with its review forms."""
