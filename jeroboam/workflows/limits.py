"""Every time-out and retry of the operation workflows, by name."""

from datetime import timedelta

from temporalio.common import RetryPolicy

RECORD_ATTEMPT = timedelta(seconds=20)
"""One write of the operation's record. Retried for ever: without it nobody sees the outcome."""

PLAN_ATTEMPT = timedelta(seconds=30)
PLAN_TOTAL = timedelta(hours=1)

STEP_ATTEMPT = timedelta(minutes=3)
"""One attempt of a short step; every call within it has a shorter time-out of its own."""

STEP_HEARTBEAT = timedelta(seconds=15)
"""After this silence a short step is tried again, on another worker if this one is dead."""

WAIT_HEARTBEAT = timedelta(seconds=60)
"""After this silence a wait is handed to another worker. Longer, since thousands may wait."""

COMPENSATION_TOTAL = timedelta(hours=24)
"""A roll-back has a clock of its own: the operation's may have run out already."""

RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=30),
)
"""Bounded by time, never by a count: a step may outwait any outage within its deadline."""

HOOK_SECONDS = 300
"""What a hook gets whose plan names no time-out."""
