"""Webhooks: their bodies, the outbox and the sender."""
