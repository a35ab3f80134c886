"""All cases, in the order of the page: the modules add their rows to the table."""
from . import smooth, joints, constraints, impacts, contacts, distances
from .table import CASES, Case

ROOMS = {smooth: "Motion without contact", joints: "Joints, actuators, rotations", constraints: "Constraints",
         impacts: "Impacts", contacts: "Contact", distances: "Distances"}


def room(case: Case) -> str:
    return next(title for module, title in ROOMS.items() if case.check.__module__ == module.__name__)
