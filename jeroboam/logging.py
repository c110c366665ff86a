"""Structured logs: one event a line, with the ids that tie a chain together."""

import logging
import sys

import structlog

from jeroboam.settings import Settings

_SHARED = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)


def configure(settings: Settings) -> None:
    """Send all logs, those of libraries too, to standard error."""
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                renderer,
            ],
        )
    )
    logging.captureWarnings(capture=True)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    # They log each request, with URLs that name tenants' things, at INFO.
    for chatty in ("keystoneauth", "urllib3", "httpx", "openstack", "stevedore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # The interceptor logs each failed activity once, with its ids; this would be a second time.
    logging.getLogger("temporalio.activity").setLevel(logging.ERROR)
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
