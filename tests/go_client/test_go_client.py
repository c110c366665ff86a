"""gophercloud, which Terraform and the autoscalers are built on, against a running product."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from devcloud import Devcloud
from tests import logins
from tests.acceptance.stack import Stack, running_stack

HERE = Path(__file__).parent
MODULE = "github.com/gophercloud/gophercloud/v2"
PACKAGES = "openstack/containerinfra/v1"
FUNCTION = re.compile(r"^func ([A-Z]\w*)[\[(]", re.MULTILINE)
BUILD_SECONDS = 600
RUN_SECONDS = 240
NO_GO = "The tests with gophercloud need Go 1.25 or newer (https://go.dev/dl) in the PATH."

pytestmark = pytest.mark.timeout(BUILD_SECONDS + RUN_SECONDS)


def go(*arguments: str, seconds: int, **environment: str) -> str:
    """Run Go in the folder of its program; return what it prints."""
    program = shutil.which("go")
    assert program, NO_GO
    done = subprocess.run(
        [program, *arguments],
        cwd=HERE,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}{done.stderr[-6000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled tests, so that no build happens while a cluster waits."""
    path = tmp_path_factory.mktemp("go") / "client.test"
    go("test", "-c", "-o", str(path), ".", seconds=BUILD_SECONDS)
    return path


@pytest.fixture(scope="module")
def stack(
    cloud: Devcloud, program: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("stack")) as stack:
        yield stack


def environment(stack: Stack) -> dict[str, str]:
    found = {"OS_AUTH_URL": str(stack.cloud.credentials("demo")["auth_url"])}
    for user in ("demo", "admin"):
        login = stack.cloud.credentials(user)
        for name in (
            "username",
            "password",
            "user_domain_name",
            "project_name",
            "project_domain_name",
        ):
            found[f"{user.upper()}_{name.upper()}"] = str(login[name])
    return found | {"DEMO_PROJECT_ID": logins.project_of(stack.connect("demo"))}


def test_gophercloud_has_its_whole_surface(stack: Stack, program: Path) -> None:
    """Templates, clusters, node groups, certificates and quotas work through gophercloud."""
    done = subprocess.run(
        [str(program), "-test.v", "-test.timeout", f"{RUN_SECONDS}s"],
        env=os.environ | environment(stack),
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS + 10,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    passed = set(re.findall(r"^--- PASS: Test(\w+)", done.stdout, re.MULTILINE))
    assert passed == {"Templates", "Clusters", "NodeGroups", "Certificates", "Quotas"}


def test_no_call_of_gophercloud_is_left_out() -> None:
    """Each function that sends a request is called by the Go tests."""
    folder = Path(go("list", "-m", "-f", "{{.Dir}}", MODULE, seconds=BUILD_SECONDS).strip())
    called = (HERE / "client_test.go").read_text()
    files = sorted((folder / PACKAGES).glob("*/requests.go"))
    assert len(files) == 5
    for file in files:
        for name in FUNCTION.findall(file.read_text()):
            assert f"{file.parent.name}.{name}(" in called, (file.parent.name, name)
