"""Triage: what failed, by the logs alone."""
