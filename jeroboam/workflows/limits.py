"""Every time-out and retry of the operation workflows, by name."""

from datetime import timedelta

from temporalio.common import RetryPolicy

RECORD_ATTEMPT = timedelta(seconds=20)
"""One write of the operation's record. Retried for ever: without it nobody sees the outcome."""

PLAN_ATTEMPT = timedelta(seconds=30)
PLAN_TOTAL = timedelta(hours=1)

STEP_ATTEMPT = timedelta(minutes=3)
"""One attempt of a short step; every call within it has a shorter time-out of its own."""

HOOK_ATTEMPT = timedelta(minutes=4)
"""One attempt of a hook. The activity ends it earlier by itself: it knows how much of the hook's
time-out is used up, which runs only while a worker tries the hook (``activities.hook_time``). All
attempts together have what is left of the operation's deadline, so that an outage of all workers
fails no hook; those that run after a failure have ``COMPENSATION_TOTAL``."""

STEP_HEARTBEAT = timedelta(seconds=15)
"""After this silence a short step is tried again, on another worker if this one is dead."""

WAIT_HEARTBEAT = timedelta(seconds=60)
"""After this silence a wait is handed to another worker. Longer, since thousands may wait."""

RESUBMISSIONS = 5
"""How often work is submitted again that the backend broke off."""

COMPENSATION_TOTAL = timedelta(hours=24)
"""Each step of a roll-back, and each hook on failure, has a clock of its own: the operation's may
have run out already."""

RETRY = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=30),
)
"""Bounded by time, never by a count: a step may outwait any outage within its deadline."""

HOOK_SECONDS = 300
"""The time-out of a hook whose plan names none."""

ACCEPT_ATTEMPT = timedelta(seconds=30)
ACCEPT_TOTAL = timedelta(minutes=2)
"""A scheduled run asks anew after this time: what it said of the time would be too old."""

BUSY_FIRST = timedelta(seconds=10)
BUSY_LONGEST = timedelta(minutes=5)
"""How soon a scheduled run looks at a busy cluster again, at first and later on."""

FOLLOW_FIRST = timedelta(seconds=2)
FOLLOW_LONGEST = timedelta(minutes=5)
"""How often a scheduled run looks at an operation that it cannot wait for as a child."""

MOST_DEFERRED = 500
"""How many clusters may wait at a time; those behind them are not looked at until one is done."""

MOST_SHOWN = 20
"""How many waiting clusters the run's details name."""

COE_START = timedelta(seconds=10)
"""How long a request to a cluster's engine waits for a worker that is free."""

COE_ATTEMPT = timedelta(seconds=30)
"""A little more than the driver's route has, which then says itself that it took too long."""

COE_TOTAL = timedelta(seconds=45)
COE_PATIENCE = timedelta(seconds=50)

ASK_TOTAL = timedelta(seconds=12)
"""What a driver in a worker of its own has to check a request; somebody waits for the answer."""

ASK_PATIENCE = timedelta(seconds=14)

REQUEST_TOTAL = timedelta(minutes=10)
"""What an operation that was asked for straight from Temporal may wait for the database."""
