"""A real nginx with our configuration and a certificate of its own, before a running Holdfast."""

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from holdfast.store.access import password_digest
from holdfast.testing.provider import ScriptedProvider
from tests.server.conftest import running
from tests.waiting import wait_until

CONF = Path(__file__).parents[2] / "deploy" / "nginx.conf"
NAME = "chat.example.com"
PASSWORD = "correct horse battery"

# nginx is no Python package, so it is not fetched for the tests: whoever has it runs these, in CI as well.
pytestmark = [
    pytest.mark.real,
    pytest.mark.xdist_group("proxy"),
    pytest.mark.skipif(
        not (shutil.which("nginx") and shutil.which("openssl")), reason="there is no nginx here"
    ),
]

AROUND = """
daemon off;
pid {folder}/pid;
error_log stderr;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site.conf;
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def nginx(folder: Path, behind: str):
    """The port of an nginx with our configuration, on loopback and with a certificate of its own."""
    folder.mkdir()
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    result = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    named = ["-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={NAME}"]
    subprocess.run([*result, *named], check=True, capture_output=True)
    port = free_port()
    lines = [line for line in CONF.read_text().splitlines() if "[::]" not in line]
    site = "\n".join(lines)
    for ours, here in (
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", str(certificate)),
        (f"/etc/letsencrypt/live/{NAME}/privkey.pem", str(key)),
        ("127.0.0.1:11435", urlsplit(behind).netloc),
    ):
        assert ours in site
        site = site.replace(ours, here)
    (folder / "site.conf").write_text(site)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, user=user))
    process = subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"])
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    def answers() -> bool:
        assert process.poll() is None, "nginx did not start"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(answers)


class Paced(ScriptedProvider):
    """Says one word, and the rest when it is told to."""

    def __init__(self):
        self.go = []
        super().__init__(fallback=self._script)

    def _script(self, request):
        self.go.append((asyncio.get_running_loop(), asyncio.Event()))
        return ["First", self.go[-1][1], " second."]

    def go_on(self):
        loop, event = self.go[-1]
        loop.call_soon_threadsafe(event.set)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    folder, provider = tmp_path_factory.mktemp("proxy"), Paced()
    with running(folder, provider, allowed_hosts=NAME, require_key=True) as holdfast:
        holdfast.store.sessions.set_password("default", password_digest(PASSWORD))
        with nginx(folder / "nginx", holdfast.url) as port:
            trusting = ssl.create_default_context()
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            site = f"{NAME}:{port}"
            with httpx.Client(
                base_url=f"https://127.0.0.1:{port}", headers={"Host": site}, verify=trusting, trust_env=False
            ) as client:
                yield client, provider, f"https://{site}"


def test_nobody_comes_through_without_a_key(proxy):
    client, _, _ = proxy
    assert client.get("/api/chats").status_code == 401
    assert client.get("/health").json()["status"] == "ok"


def test_another_name_is_not_answered_to(proxy):
    client, _, _ = proxy
    refused = client.get("/api/chats", headers={"Host": "evil.example.net"})
    assert refused.status_code == 400
    assert "allowed_hosts" in refused.text


def test_browser_login_uses_secure_cookie_and_answers_stream(proxy):
    client, provider, origin = proxy
    browser = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    came = client.post("/api/login", json={"password": PASSWORD}, headers=browser)
    assert came.status_code == 200, came.text
    cookie = came.headers["set-cookie"]
    assert "secure" in cookie.lower()
    assert "httponly" in cookie.lower()
    session = {**browser, "Cookie": cookie.partition(";")[0]}

    body = {"model": "scripted", "messages": [{"role": "user", "content": "Hello."}], "stream": True}
    with client.stream("POST", "/v1/chat/completions", json=body, headers=session) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        # The rest is not even said yet: whoever holds this back would wait for ever.
        assert any("First" in line for line in lines)
        provider.go_on()
        assert any("second" in line for line in lines)


def test_another_page_cannot_use_the_session(proxy):
    client, _, origin = proxy
    came = client.post("/api/login", json={"password": PASSWORD}, headers={"Origin": origin})
    foreign = {"Cookie": came.headers["set-cookie"].partition(";")[0], "Origin": "https://evil.example.net"}
    assert client.post("/api/chats/x/compact", headers=foreign).status_code in (400, 403)
