"""What JSON the API reads."""

import pytest

from jeroboam.api.http import strict_json
from jeroboam.errors import InvalidRequestError


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"name": "c", "labels": {"a": 1.5, "b": true}, "list": [[], {}]}',
        b"  [1, 2, 3]\n",
        '{"name": "größe \\ud83d\\ude00 😀"}'.encode(),
        b"[" * 63 + b"]" * 63,
        b'"' + b"x" * 100_000 + b'"',
        b"[" + b"1," * 19_000 + b"1]",
        b'[{"a": 1}, {"a": 2}]',
    ],
)
def test_documents_that_mean_one_thing_pass(body: bytes) -> None:
    """Every text that all readers take for the same goes through."""
    strict_json.check(body)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "not valid JSON"),
        (b"{} {}", "not valid JSON"),
        (b'{"a": 1,}', "not valid JSON"),
        (b"\x1f\x8b\x08\x00", "not UTF-8"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8"),
        ('{"a": 1}'.encode("utf-16-le"), "not valid JSON"),
        ('{"a": 1}'.encode("utf-32"), "not UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', "not valid JSON"),
        (b'{"a": 1, "b": 2, "a": 3}', "The attribute 'a' is there twice"),
        (b'{"x": {"\\ud83d\\ude00": 1, "\\ud83d\\ude00": 1}}', "is there twice"),
        (b'{"a": NaN}', "no number NaN"),
        (b'{"a": -Infinity}', "no number -Infinity"),
        (b'{"a": 1e999}', "A number in the request body is too large"),
        (b'{"a": -1.0e999}', "A number in the request body is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"a": "\\ud800"}', "no character"),
        (b'{"\\uDFFF": 1}', "no character"),
        (b"[" * 65 + b"]" * 65, "deeper than 64 levels"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "deeper than 64 levels"),
        (b"[" * 100_000 + b"]" * 100_000, "deeper than 64 levels"),
        (b"[" * 100_000, "deeper than 64 levels|not valid JSON"),
        (b"[" + b"{}," * 200_000 + b"{}]", "more than 20000 values"),
        (b"{" + b",".join(b'"%d":1' % n for n in range(30_000)) + b"}", "more than 20000 values"),
    ],
    ids=range(25),
)
def test_documents_that_readers_take_differently_are_refused(body: bytes, reason: str) -> None:
    """Each is told by one sentence, and none costs more than the parser's own time."""
    with pytest.raises(InvalidRequestError, match=reason):
        strict_json.check(body)
