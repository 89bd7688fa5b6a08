"""GitHub's JSON for each thing. Shapes follow its OpenAPI description; addresses follow the caller's."""
