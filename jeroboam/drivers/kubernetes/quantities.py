"""Kubernetes' quantities (``250m``, ``1.5Gi``, ``2e3``) as plain numbers."""

import re
from decimal import Decimal

_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def number(quantity: object) -> Decimal:
    """Return a quantity in its base unit: cores, bytes or pieces; what cannot be read is 0."""
    found = _QUANTITY.fullmatch(str(quantity or "0"))
    if not found:
        return Decimal(0)
    suffix = found[2] or ""
    try:
        plain = Decimal(found[1])
    except ArithmeticError:
        return Decimal(0)
    if suffix in _BINARY:
        return plain * Decimal(2 ** _BINARY[suffix])
    return plain.scaleb(_DECIMAL[suffix])


def millicores(quantity: object) -> int:
    """Return an amount of CPU in thousandths of a core."""
    return int(number(quantity) * 1000)


def mebibytes(quantity: object) -> int:
    """Return an amount of memory in MiB."""
    return int(number(quantity) / 2**20)
