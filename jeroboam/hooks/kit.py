"""All that a process needs to declare and run hooks, made from its settings."""

import secrets
from dataclasses import dataclass, field

from jeroboam.hooks import declaring, file
from jeroboam.hooks.base import Outbound
from jeroboam.hooks.callbacks import Callbacks
from jeroboam.hooks.file import DeclaredHooks
from jeroboam.hooks.outbound import GuardedOutbound
from jeroboam.hooks.registry import HookRegistry
from jeroboam.hooks.targets import Targets
from jeroboam.settings import Settings


@dataclass(frozen=True)
class HookKit:
    """Hooks, and what they need; without arguments there are none and nothing is allowed.

    Args:
        registry: What is installed, and what the operator's file declares.
        outbound: The way out over HTTP.
        callbacks: Makes and checks the URLs of late answers.
    """

    registry: HookRegistry = field(default_factory=lambda: HookRegistry(()))
    outbound: Outbound = field(default_factory=lambda: GuardedOutbound(Targets(())))
    callbacks: Callbacks = field(
        default_factory=lambda: Callbacks(secrets.token_bytes(32), "http://localhost")
    )

    @classmethod
    def load(cls, settings: Settings, callback_key: bytes) -> "HookKit":
        """Load what is installed and what the operator's file declares.

        Args:
            callback_key: The same in all processes.

        Raises:
            ConfigurationError: A setting or the file is wrong.
            DriverContractError: An installed hook is.
        """
        outbound = GuardedOutbound(Targets(settings.webhook_allowed, settings.webhook_networks))
        declared = file.read(settings.hooks_file) if settings.hooks_file else DeclaredHooks()
        registry = HookRegistry.load(declared)
        declaring.check_file(registry, outbound)
        return cls(registry, outbound, Callbacks(callback_key, settings.resolved_api_url))
