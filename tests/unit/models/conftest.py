"""How property tests run here."""

from hypothesis import settings

# A machine at work on other things is no defect of what is tested.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
