"""The document that a server gets as its user data, and how large it may be. Pure."""

import base64
import gzip
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from jeroboam.drivers.nodes.manifest import NodeFiles
from jeroboam.errors import InvalidRequestError

# Nova takes 64 KiB of Base64; the values that Heat puts in need some of it.
MAX_BASE64 = 65535
_RESERVE = 4096


class NodeDocument(ABC):
    """One format of user data."""

    escapes: ClassVar[Mapping[str, str]]
    """How the one text with quotes that the engine puts in has to be written."""

    sets_kernel_arguments: ClassVar[bool] = False
    """Whether the system is told its kernel arguments before anything of it runs."""

    @abstractmethod
    def write(self, node: NodeFiles) -> str:
        """Return the document, in which the engine's values are still missing.

        Raises:
            DriverContractError: The format cannot express what the node needs.
        """

    def render(self, node: NodeFiles) -> str:
        """Return the document.

        Raises:
            InvalidRequestError: It is too large for Nova.
        """
        document = self.write(node)
        size = len(document) * 4 // 3 + _RESERVE
        if size > MAX_BASE64:
            raise InvalidRequestError(
                f"What a {node.role} needs at its first boot is {size - MAX_BASE64} bytes too "
                "large for Nova. Shorten the options, proxies and node labels."
            )
        return document


def packed(text: str) -> str:
    """Return a text compressed, in Base64; the same for the same text."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
