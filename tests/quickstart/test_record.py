"""The recorder of the README's picture."""

import sys
import xml.etree.ElementTree as ET

from tools.record import MOST_FRAMES, STAYS, Screen, picture, watch, worth_showing


def test_a_redraw_replaces_what_was_there() -> None:
    """Moving up and clearing lines is understood as a terminal does it."""
    screen = Screen()
    screen.feed("one\r\ntwo\r\n")
    screen.feed("\r\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[32mONE\x1b[0m\r\nTWO\r\n")
    assert screen.lines == ["\x1b[32mONE\x1b[0m", "TWO", ""]


def test_a_real_terminal_is_recorded() -> None:
    """A command runs in a terminal until it says that it stays up, and then gets Ctrl-C."""
    code = f"import sys, time; print(sys.stdout.isatty(), {STAYS!r}, flush=True); time.sleep(60)"
    screens = list(watch([sys.executable, "-c", code]))
    assert f"True {STAYS}" in screens[-1]


def test_frames_become_one_picture() -> None:
    """The picture is one SVG which loads nothing, with the last frame shown by itself."""
    frames = worth_showing(iter(f"{'✔' * number} step\nsecond" for number in range(40)))
    assert len(frames) <= MOST_FRAMES + 1
    drawn = picture(frames)
    root = ET.fromstring(drawn)
    assert len(root.findall("{http://www.w3.org/2000/svg}g")) == len(frames)
    assert "url(https" not in drawn
    assert f".k{len(frames) - 1}{{animation" in drawn
