"""Which servers are told what is remembered: near ones, and others only when somebody says so."""

import pytest

from holdfast.errors import ConfigError
from holdfast.memory.gate import MemoryGate


@pytest.mark.parametrize(
    "location",
    [
        "embedded:smollm2.gguf",
        "scripted:",
        "http://127.0.0.1:11434",
        "http://[::1]:8080/v1",
        "http://localhost:1234",
        "http://192.168.178.20:11434",
        "http://10.1.2.3/v1",
        "http://gpu-box:11434",
        "http://studio.local:8080",
    ],
)
def test_what_is_near_is_told(location):
    assert MemoryGate().lets_pass(location)


@pytest.mark.parametrize(
    "location",
    ["https://api.example.com/v1", "http://8.8.8.8:11434", "https://user:pass@models.example.org", "http://"],
)
def test_what_is_elsewhere_is_not(location):
    assert not MemoryGate().lets_pass(location)


def test_the_user_decides_by_server():
    gate = MemoryGate.of("https://api.example.com=on, 192.168.1.5:11434=off, http://[fd00::1]=off")
    assert gate.lets_pass("https://api.example.com/v1")
    assert gate.lets_pass("https://api.example.com:8443/v1")
    assert not gate.lets_pass("https://other.example.com/v1")
    assert not gate.lets_pass("http://192.168.1.5:11434")
    assert gate.lets_pass("http://192.168.1.5:8080")
    assert not gate.lets_pass("http://[fd00::1]:11434")
    assert MemoryGate.of("").lets_pass("http://127.0.0.1:11434")


@pytest.mark.parametrize(
    "text", ["https://api.example.com", "=on", "api.example.com=yes", "http://x:port=on"]
)
def test_nonsense_is_refused(text):
    with pytest.raises(ConfigError, match="memories"):
        MemoryGate.of(text)
