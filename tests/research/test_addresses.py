"""Which addresses are fetched: in every spelling, in every network."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ConfigError, FetchFailed
from holdfast.research.fetch import AddressGuard, host_name, parse_address

INSIDE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.178.1", "198.18.0.1", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "168.63.129.16",
    "::", "::1", "::127.0.0.1", "fe80::1", "fe80::1%1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
    "2001::1", "2002:7f00:1::", "64:ff9b:1::1", "4000::1",
]  # fmt: skip
OUTSIDE = ["8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"]


@pytest.mark.parametrize("number", INSIDE)
def test_what_is_not_the_public_web_is_not_reached(number):
    assert not AddressGuard().allows(number, 80)


@pytest.mark.parametrize("number", OUTSIDE)
def test_the_public_web_is_reached_on_any_port(number):
    assert AddressGuard().allows(number, 443)
    assert AddressGuard().allows(number, 8080)


@given(st.ip_addresses(v=4))
def test_ipv4_inside_ipv6_is_judged_as_what_it_is(number):
    alone = AddressGuard().allows(str(number), 80)
    assert AddressGuard().allows(f"::ffff:{number}", 80) == alone
    assert AddressGuard().allows(str(IPv6Address((0x64FF9B << 96) | int(number))), 80) == alone
    assert not AddressGuard().allows(str(IPv6Address((0x2002 << 112) | int(number) << 80)), 80)


@given(st.ip_addresses(v=4, network="10.0.0.0/8"), st.integers(1, 65_535))
def test_only_the_places_that_were_allowed_are_reached(number, port):
    guard = AddressGuard.from_setting("10.1.0.0/16, 10.2.3.4:8080, [::1]:8080, fd00::/8")
    allowed = number in IPv4Network("10.1.0.0/16") or (number == IPv4Address("10.2.3.4") and port == 8080)
    assert guard.allows(str(number), port) == allowed


def test_places_in_ipv6_can_be_allowed_too():
    guard = AddressGuard.from_setting("[::1]:8080, fd00::/8")
    assert guard.allows("::1", 8080)
    assert not guard.allows("::1", 8081)
    assert guard.allows("fd12::1", 1)


def test_the_switch_opens_everything_but_our_own_port():
    for text in ("", "off", " OFF "):
        assert not AddressGuard.from_setting(text).allows("127.0.0.1", 80)
    guard = AddressGuard.from_setting("on", own_port=11435)
    assert guard.allows("127.0.0.1", 80)
    assert not guard.allows("127.0.0.1", 11435)
    assert not guard.allows("::1", 11435)
    assert guard.allows("8.8.8.8", 11435)


@pytest.mark.parametrize("text", ["yes", "10.0.0.0/99", "example.com", "10.0.0.1:"])
def test_a_place_that_cannot_be_read_is_said(text):
    with pytest.raises(ConfigError, match="research_private") as caught:
        AddressGuard.from_setting(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "", "example.com", "//example.com", "ftp://example.com", "file:///etc/passwd", "javascript:alert(1)",
        "data:text/html,x", "http://", "http:///x", "http://user:secret@example.com", "http://user@example.com",
        "http://example.com:99999/", "http://example.com:0/", "http://exa mple.com/", "http://example.com/a\nb",
        "http://good.example\\@evil.example/", "http://[fe80::1%25eth0]/", "http://[::1",
        "http://ex%61mple.com/", "http://[::1]@/",
    ],
)  # fmt: skip
def test_what_is_no_address_of_the_web_is_not_fetched(text):
    with pytest.raises(FetchFailed, match="no address to fetch"):
        parse_address(text)


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "1.2.3", "1.2.3.4.", "1.2.3.400"]
)
def test_numbers_in_odd_spellings_are_not_fetched(host):
    with pytest.raises(FetchFailed, match="odd spelling"):
        parse_address(f"http://{host}/")


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("  HTTP://Example.COM:80/a#part ", "http://example.com/a"),
        ("https://bücher.example/ä?q=ö", "https://xn--bcher-kva.example/%C3%A4?q=%C3%B6"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("http://ⓛocalhost/", "http://localhost/"),
        ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
    ],
)
def test_an_address_has_one_spelling(text, spelled):
    assert str(parse_address(text)) == spelled


def test_trailing_dot_does_not_change_host():
    assert host_name(parse_address("http://Example.com./")) == host_name(parse_address("http://example.com/"))


@given(st.text(max_size=60))
def test_whatever_is_given_it_is_an_address_or_refused(text):
    for candidate in (text, f"http://{text}", f"http://example.com/{text}"):
        try:
            url = parse_address(candidate)
        except FetchFailed:
            continue
        assert url.scheme in ("http", "https")
        assert url.raw_host
        assert url.user is None
