"""Finding wait-condition calls in user data of all kinds."""

import base64
import gzip
import json
import urllib.parse
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

import pytest

from devcloud.inside.userdata import Login, Signal, signals

URL = "http://127.0.0.1:15004/v1/p/stacks/s/0d/resources/handle/signal"
TOKEN = "gAAAAABm" + "x" * 150 + "-_0="
CURL = (
    f"curl -i -X POST -H 'X-Auth-Token: {TOKEN}' -H 'Content-Type: application/json'"
    f" -H 'Accept: application/json' {URL}"
)
SCRIPT = f'#!/bin/sh\nset -e\n{CURL} --data-binary \'{{"status": "SUCCESS"}}\'\n'
EXPECTED = [Signal(URL, TOKEN)]


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def packed(text: str) -> str:
    return b64(gzip.compress(text.encode()))


def ignition(*sources: str, compression: str = "") -> str:
    files = [
        {"path": f"/etc/{n}", "contents": {"source": source, "compression": compression}}
        for n, source in enumerate(sources)
    ]
    return json.dumps({"ignition": {"version": "3.3.0"}, "storage": {"files": files}})


def mime(*parts: str) -> str:
    message = MIMEMultipart()
    for part in parts:
        message.attach(MIMEText(part, "x-shellscript"))
    return message.as_string()


@pytest.mark.parametrize(
    "user_data",
    [
        SCRIPT,
        b64(SCRIPT),
        packed(SCRIPT),
        ignition("data:," + urllib.parse.quote(SCRIPT)),
        ignition("data:;base64," + b64(SCRIPT)),
        ignition("data:text/plain;charset=utf-8;base64," + b64(SCRIPT)),
        ignition("data:;base64," + packed(SCRIPT), compression="gzip"),
        b64(ignition("data:;base64," + b64(SCRIPT))),
        json.dumps(
            {"systemd": {"units": [{"name": "a", "contents": f"[Service]\nExecStart={CURL}"}]}}
        ),
        mime("#!/bin/sh\ntrue\n", SCRIPT),
        "#cloud-config\nruncmd:\n- " + json.dumps(CURL),
        "#cloud-config\nwrite_files:\n- path: /a\n  encoding: b64\n  content: " + b64(SCRIPT),
        "#cloud-config\nwrite_files:\n- path: /a\n  encoding: gz+b64\n  content: " + packed(SCRIPT),
        mime("#cloud-config\nwrite_files:\n- {path: /a, content: " + json.dumps(SCRIPT) + "}"),
    ],
)
def test_a_call_is_found_however_it_is_wrapped(user_data: str) -> None:
    """The wrappings that nodes understand are undone."""
    assert signals(user_data) == EXPECTED


def test_endpoint_and_token_may_be_variables_of_one_file() -> None:
    """A template may pass the two attributes instead of the whole command."""
    env = f'WAIT_ENDPOINT="{URL}"\nexport WAIT_TOKEN="{TOKEN}"\n'
    assert signals(ignition("data:;base64," + b64(env))) == EXPECTED


def test_endpoint_and_token_may_be_in_two_files() -> None:
    """A single token belongs to every endpoint."""
    two = ignition(
        "data:," + urllib.parse.quote(URL), "data:," + urllib.parse.quote(f"TOKEN={TOKEN}")
    )
    assert signals(two) == EXPECTED


def test_several_calls_are_found_with_their_own_tokens() -> None:
    """A node may signal more than one condition."""
    url, token = URL.replace("handle", "other"), TOKEN.replace("x", "y")
    second = CURL.replace(URL, url).replace(TOKEN, token)
    assert signals(f"#!/bin/sh\n{CURL}\n{second}\n") == [*EXPECTED, Signal(url, token)]


def test_variables_of_several_conditions_are_paired_in_order() -> None:
    """First endpoint with first token, second with second."""
    url, token = URL.replace("handle", "other"), TOKEN.replace("x", "y")
    env = f"A_URL={URL}\nA_TOKEN={TOKEN}\nB_URL={url}\nB_TOKEN={token}\n"
    assert signals(env) == [*EXPECTED, Signal(url, token)]


def test_a_call_is_made_once() -> None:
    """The same call in two places is one call."""
    assert signals(mime(SCRIPT, SCRIPT)) == EXPECTED


@pytest.mark.parametrize(
    "user_data",
    [
        "",
        "#!/bin/sh\ntrue\n",
        f"curl -H 'X-Auth-Token: $TOKEN' {URL}",
        "{broken json",
        "#cloud-config\n: [",
        b64(b"\x1f\x8bbroken"),
        "http://127.0.0.1/else",
    ],
)
def test_other_user_data_calls_nobody(user_data: str) -> None:
    """What is no call, or cannot be read, is ignored."""
    assert signals(user_data) == []


GIVEN = {
    "auth_url": "http://127.0.0.1:15000/v3/",
    "username": "handle",
    "user_id": "u",
    "password": "p%#&",
    "project_id": "p",
    "alarm_url": URL,
}
WITH_LOGIN = [Signal(URL, login=Login("http://127.0.0.1:15000/v3/", "u", "p%#&", "p"))]


@pytest.mark.parametrize(
    "user_data",
    [
        json.dumps(GIVEN),
        b64(json.dumps(GIVEN)),
        ignition("data:," + urllib.parse.quote(json.dumps(GIVEN))),
        ignition("data:;base64," + packed(json.dumps(GIVEN)), compression="gzip"),
    ],
)
def test_call_with_a_login(user_data: str) -> None:
    """The attribute ``signal`` of a handle with HEAT_SIGNAL is found in any wrapping."""
    assert signals(user_data) == WITH_LOGIN


@pytest.mark.parametrize("missing", ["auth_url", "user_id", "password", "project_id", "alarm_url"])
def test_login_without_one_of_its_parts(missing: str) -> None:
    """A document that lacks something is no call."""
    given = {name: value for name, value in GIVEN.items() if name != missing}
    assert signals(json.dumps(given)) == []


@pytest.mark.parametrize(
    "user_data",
    [
        '{"console": "node-report"}',
        ignition("data:," + urllib.parse.quote('{"console": "node-report"}')),
        '#cloud-config\n{"write_files": [{"content": "{\\"console\\": \\"node-report\\"}"}]}',
    ],
)
def test_report_on_the_console(user_data: str) -> None:
    assert signals(user_data) == [Signal("", console="node-report")]


@pytest.mark.parametrize(
    "document", ['{"console": "node", "more": 1}', '{"console": ""}', '{"console": 1}', "[]"]
)
def test_other_documents_are_no_report(document: str) -> None:
    assert signals(document) == []
