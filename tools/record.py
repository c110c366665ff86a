"""Records a quickstart in a terminal, as an animated SVG for the README.

Usage: ``python -m tools.record PICTURE.svg COMMAND...``

The command runs in a pseudo-terminal; when it says that it stays up, Ctrl-C is pressed. The
picture shows a frame for each change worth showing, the last one for longest, and for good where
animations are not shown.
"""

import fcntl
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console

COLUMNS, ROWS = 112, 44
TERMINAL = {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
STAYS = "Everything stays up until Ctrl-C."
TITLE = "make quickstart"
MOST_FRAMES = 9
FRAME_SECONDS = 0.9
LAST_SECONDS = 6.0
PAUSE_SECONDS = 0.03
STAY_SECONDS = 1.0

_CONTROL = re.compile(r"\x1b\[(\??\d*)([A-Za-z])|\r|\n")


@dataclass
class Screen:
    """What a terminal shows: rich moves up, clears lines and writes, and no more is understood."""

    lines: list[str] = field(default_factory=lambda: [""])
    row: int = 0

    def feed(self, text: str) -> None:
        """Draw some output."""
        position = 0
        for found in _CONTROL.finditer(text):
            self.lines[self.row] += text[position : found.start()]
            position = found.end()
            self._control(found)
        self.lines[self.row] += text[position:]

    def _control(self, found: "re.Match[str]") -> None:
        if found[0] == "\n":
            self.row += 1
            if self.row == len(self.lines):
                self.lines.append("")
        elif found[2] == "A":
            self.row = max(0, self.row - int(found[1] or 1))
        elif found[2] == "K":
            self.lines[self.row] = ""
        elif found[2] == "m":
            self.lines[self.row] += found[0]


def watch(command: Sequence[str]) -> Iterator[str]:
    """Run a command in a terminal and yield what the screen shows after each piece of output."""
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    child = subprocess.Popen(  # noqa: S603 - the caller's own command
        list(command),
        env={key: value for key, value in os.environ.items() if key != "CI"} | TERMINAL,
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    try:
        yield from _screens(terminal)
        time.sleep(STAY_SECONDS)
        os.killpg(child.pid, signal.SIGINT)
        while _read(terminal):
            pass
    finally:
        child.wait()
        os.close(terminal)


def _screens(terminal: int) -> Iterator[str]:
    screen, output = Screen(), ""
    while piece := _read(terminal):
        # A sequence may be cut in the middle; the rest comes with the next piece.
        output += piece
        cut = output.rfind("\x1b")
        whole = cut if cut >= 0 and not _CONTROL.match(output, cut) else len(output)
        screen.feed(output[:whole])
        output = output[whole:]
        if select.select([terminal], [], [], PAUSE_SECONDS)[0]:
            # Half a redraw is no picture.
            continue
        shown = "\n".join(screen.lines)
        yield shown
        if STAYS in shown:
            return


def _read(terminal: int) -> str:
    """Return the next piece of output; nothing when there is nobody any more to write it."""
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except OSError:
        return ""


def worth_showing(screens: Iterator[str]) -> list[str]:
    """Choose the frames: whenever a step ends or begins, and the very last."""
    chosen: dict[str, str] = {}
    last = ""
    for last in screens:
        marks = re.sub(r"\d+(\.\d+)?( min \d+)? s|[⠀-⣿]", "", last)
        chosen.setdefault("".join(re.findall(r"[✔✘·]|Heat: \d+|\n", marks)), last)
    frames = list(chosen.values())
    step = math.ceil(len(frames) / MOST_FRAMES)
    return [*frames[::step], last]


def picture(frames: Sequence[str]) -> str:
    """Return the frames as one SVG, each shown for a while."""
    height = max(frame.count("\n") for frame in frames) + 3
    drawn = [_drawn(frame, number, height) for number, frame in enumerate(frames)]
    total = FRAME_SECONDS * (len(drawn) - 1) + LAST_SECONDS
    box = re.search(r'viewBox="([^"]+)"', drawn[-1])
    styles, groups = [], []
    for number, frame in enumerate(drawn):
        begin = 100 * FRAME_SECONDS * number / total
        end = 100.0 if number == len(drawn) - 1 else 100 * FRAME_SECONDS * (number + 1) / total
        hidden = "" if number == len(drawn) - 1 else "opacity:0;"
        styles.append(
            f"@keyframes k{number}{{0%{{opacity:0}}{begin:.2f}%{{opacity:1}}"
            f"{end:.2f}%{{opacity:0}}}}"
            f".k{number}{{{hidden}animation:k{number} {total:.1f}s step-end infinite}}"
        )
        groups.append(f'<g class="k{number}">{frame}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1] if box else ""}">'
        f"<style>{''.join(styles)}"
        "@media (prefers-reduced-motion){g{animation:none!important}}</style>"
        f"{''.join(groups)}</svg>\n"
    )


def _drawn(frame: str, number: int, height: int) -> str:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        lines = [f"$ {TITLE}", *frame.splitlines()]
        for line in AnsiDecoder().decode("\n".join(lines)):
            console.print(line, highlight=False)
        console.print("\n" * max(0, height - len(lines)), end="")
        svg = console.export_svg(title="", unique_id=f"f{number}")
    # Pictures in a README may load nothing from elsewhere.
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def main() -> int:
    """Record and write."""
    target, *command = sys.argv[1:]
    Path(target).write_text(picture(worth_showing(watch(command))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
