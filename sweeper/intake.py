"""Event to action: start a sweep, ring one, or say why not. Every trigger goes through here."""
