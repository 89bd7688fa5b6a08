"""Deterministic fixers: a catalogue of tools that mend what their checking form complains about."""

from adapters.agents.fixing.repairs import Complaint, Packages, Place, Repair, fits, packages_asked, repairs
from adapters.agents.fixing.scripts import scripts_in

__all__ = ["Complaint", "Packages", "Place", "Repair", "fits", "packages_asked", "repairs", "scripts_in"]
