"""The fake driver: pretends, with faults and delays that labels ask for."""
