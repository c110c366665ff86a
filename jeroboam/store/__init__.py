"""The read model: what the API shows, written by the workflows' activities."""

from jeroboam.store.cipher import Cipher
from jeroboam.store.operations import OperationFilter
from jeroboam.store.query import Page, Scope
from jeroboam.store.services import ServiceRecord
from jeroboam.store.store import Store

__all__ = ["Cipher", "OperationFilter", "Page", "Scope", "ServiceRecord", "Store"]
