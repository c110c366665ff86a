"""The command line of devcloud."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from devcloud import catalogue, credentials
from devcloud.cloud import Devcloud
from devcloud.errors import DevcloudError, UsageError
from devcloud.faults import ACTIONS, Fault

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    options = _parser().parse_args(arguments)
    # A closed terminal or a stopped job must not leave a half-started cloud either.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        return _run(options)
    except UsageError as error:
        return _complain(error.cause, error.remedy, EXIT_USAGE)
    except DevcloudError as error:
        return _complain(error.cause, error.remedy, EXIT_FAILURE)
    except KeyboardInterrupt:
        return _complain(
            "Interrupted; what this command had started is stopped.", "", EXIT_INTERRUPTED
        )
    except BrokenPipeError:
        return EXIT_FAILURE
    except OSError as error:
        return _complain(
            f"{error.strerror or error}: {error.filename or ''}".rstrip(": "), "", EXIT_FAILURE
        )


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _complain(cause: str, remedy: str, code: int) -> int:
    print(f"devcloud: {cause}", file=sys.stderr)
    if remedy:
        print(f"devcloud: {remedy}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="devcloud", description="A real OpenStack on this machine, for trying and testing."
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--home", type=Path, help="folder of this devcloud [DEVCLOUD_HOME]")
    common.add_argument("--venv", type=Path, help="environment of the services [DEVCLOUD_VENV]")
    common.add_argument(
        "--port-base", type=int, metavar="N", help="first port [DEVCLOUD_PORT_BASE], 15000"
    )
    common.add_argument(
        "--set", dest="services", choices=tuple(catalogue.SETS), help="which services, full"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[common])

    command("install", "install the packages of the services")
    start = command("start", "do whatever is missing until the cloud answers")
    start.add_argument("service", nargs="?", help="start only this service again")
    start.add_argument(
        "--boot-seconds", type=float, metavar="S", help="how long a simulated node boots, 1"
    )
    command("status", "show what runs; exit code 1 unless everything does")
    stop = command("stop", "stop what devcloud started, and nothing else")
    stop.add_argument("service", nargs="?", help="stop only this service")
    stop.add_argument("--kill", action="store_true", help="let that service crash")
    destroy = command("destroy", "stop everything and delete the home")
    destroy.add_argument("--state", action="store_true", help="keep packages and snapshots")
    env = command("env", "print shell commands that choose a cloud of clouds.yaml")
    env.add_argument("--cloud", choices=tuple(credentials.CLOUDS), default="demo")
    for name, text in (
        ("snapshot", "keep the present state under a name"),
        ("restore", "go back to a snapshot"),
    ):
        command(name, text).add_argument("name", nargs="?", default="default")
    _add_fault_parser(commands, common)
    return parser


def _add_fault_parser(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    common: argparse.ArgumentParser,
) -> None:
    text = "inject faults"
    fault = commands.add_parser("fault", help=text, description=text)
    actions = fault.add_subparsers(dest="action", required=True, metavar="action")
    actions.add_parser("list", help="show all rules", parents=[common])
    clear = actions.add_parser("clear", help="remove one rule or all", parents=[common])
    clear.add_argument("id", nargs="?")
    add = actions.add_parser("add", help="add a rule")
    targets = add.add_subparsers(dest="target", required=True, metavar="target")
    texts = {
        "server": "Nova's building of a server",
        "reboot": "Nova's reboot of a server",
        "node": "the call-back of a simulated node",
        "api": "the answer of an API",
    }
    for target, about in texts.items():
        parser = targets.add_parser(target, help=about, description=about, parents=[common])
        effect = parser.add_mutually_exclusive_group(required=True)
        effect.add_argument("--delay", type=float, metavar="SECONDS", help="take longer")
        if target == "api":
            effect.add_argument("--status", type=int, metavar="CODE", help="fail with a status")
            parser.add_argument("--service", required=True, choices=tuple(catalogue.everything()))
            parser.add_argument("--method", default="*")
            parser.add_argument("--path", default="", metavar="REGEX")
        else:
            effect.add_argument("--fail", metavar="MESSAGE", help="fail for this reason")
            parser.add_argument("--name", default="*", metavar="PATTERN", help="server name")
        if "drop" in ACTIONS[target]:
            effect.add_argument("--drop", action="store_true", help="never answer or call")
        parser.add_argument("--nth", type=int, metavar="N", help="only the n-th match")
        parser.add_argument("--count", type=int, metavar="N", help="for so many matches")
        parser.add_argument("--for", dest="lasting", type=float, metavar="SECONDS")


def _run(options: argparse.Namespace) -> int:
    cloud = Devcloud(
        options.home,
        port_base=options.port_base,
        services=options.services,
        venv=options.venv,
        boot_seconds=getattr(options, "boot_seconds", None),
    )
    commands: dict[str, Callable[[Devcloud, argparse.Namespace], int]] = {
        "install": _install,
        "start": _start,
        "status": _status,
        "stop": _stop,
        "destroy": _destroy,
        "env": _env,
        "snapshot": _snapshot,
        "restore": _restore,
        "fault": _fault,
    }
    return commands[options.command](cloud, options)


def _install(cloud: Devcloud, _: argparse.Namespace) -> int:
    cloud.install()
    return 0


def _start(cloud: Devcloud, options: argparse.Namespace) -> int:
    if options.service:
        cloud.start_service(options.service)
        return 0
    cloud.start()
    print(f"export OS_CLIENT_CONFIG_FILE={cloud.clouds_yaml}")
    print("export OS_CLOUD=demo")
    return 0


def _status(cloud: Devcloud, _: argparse.Namespace) -> int:
    found = cloud.status()
    for one in found:
        state = "up" if one.answers else "not answering" if one.pid else "stopped"
        print(f"{one.name:10} {state:14} {one.pid or '-':>8}  {one.url}")
    return 0 if all(one.answers for one in found) else EXIT_FAILURE


def _stop(cloud: Devcloud, options: argparse.Namespace) -> int:
    if options.kill and not options.service:
        raise UsageError("Only a single service can be killed.", "Name it: stop --kill heat.")
    if options.service:
        (cloud.kill_service if options.kill else cloud.stop_service)(options.service)
        return 0
    stopped = cloud.stop()
    print(f"stopped {', '.join(stopped)}" if stopped else "nothing was running")
    return 0


def _destroy(cloud: Devcloud, options: argparse.Namespace) -> int:
    cloud.destroy(only_state=options.state)
    return 0


def _env(cloud: Devcloud, options: argparse.Namespace) -> int:
    print(credentials.exports(cloud.layout, options.cloud))
    return 0


def _snapshot(cloud: Devcloud, options: argparse.Namespace) -> int:
    print(cloud.snapshot(options.name))
    return 0


def _restore(cloud: Devcloud, options: argparse.Namespace) -> int:
    cloud.restore(options.name)
    return 0


def _fault(cloud: Devcloud, options: argparse.Namespace) -> int:
    if options.action == "list":
        for rule in cloud.faults.rules():
            print(f"{rule.id}  {rule.describe()}")
    elif options.action == "clear":
        if not cloud.faults.clear(options.id) and options.id:
            raise UsageError(f"There is no rule {options.id!r}.", "See: fault list.")
    else:
        print(cloud.add_fault(_fault_of(options)).id)
    return 0


def _fault_of(options: argparse.Namespace) -> Fault:
    given = vars(options)
    values = {"name": given.get("name"), "seconds": given.get("delay")}
    values |= {key: given.get(key) for key in ("service", "method", "path", "status", "nth")}
    values["message"] = given.get("fail")
    values["count"] = 1 if options.nth and not options.count else options.count
    values["until"] = time.time() + options.lasting if options.lasting else None
    action = "delay" if given.get("delay") else "drop" if given.get("drop") else "fail"
    chosen = {key: value for key, value in values.items() if value is not None}
    return Fault(target=options.target, action=action, **chosen)
