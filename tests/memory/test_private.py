"""Private text and secrets do not reach what is stored; names, numbers and hashes do."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadRequest, ConfigError
from holdfast.memory.private import MARK, MemoryGate, redact, redact_file

words = st.lists(st.sampled_from(["Ada", "am 3. Mai", "v1.2.3", "naïve 🙂", "\n", "4,711 €", "<b>"])).map(
    " ".join
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hello <private>my salary</private> world", "Hello  world"),
        ("Hello <PRIVATE>my salary</Private> world", "Hello  world"),
        ("a <private>x\ny</private> b <private>z</private> c", "a  b  c"),
        ("before <private>never closed\nand more", "before "),
        ("a <private>one <private>two</private> three</private> b", "a  b"),
        ("a </private> b", "a  b"),
        ('a <private reason="health">x</private> b', "a  b"),
        ("a <privateer> b", "a <privateer> b"),
    ],
)
def test_what_is_marked_private_goes_wholly(text, left):
    assert redact(text) == left


@given(words, words, words)
def test_nothing_between_the_marks_survives_and_nothing_around_them_goes(before, inside, after):
    assert redact(f"{before}<private>{inside}\x01</private>{after}") == before + after


SECRETS = [
    ("sk-proj-abcDEF1234567890ghijKLMN", "my key is {} ok"),
    ("sk-ant-api03-AbCdEf0123456789_-xyz", "{}"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "use {} here"),
    ("github_pat_11ABCDEFG0123456789_abcdefghij", "use {} here"),
    ("AKIAIOSFODNN7EXAMPLE", "AWS {}."),
    ("xoxb-123456789012-abcdefABCDEF", "slack {}"),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "maps {}"),
    ("hf_abcdefghijABCDEFGHIJ0123456789", "hub {}"),
    ("hf_7k2m9qxt_Zr4-vN8sQ1wLxYb6TgHc3PdKe9MfJu0AoIyE5XtRqWz", "the page's key is {}"),
    ("glpat-abcDEF1234567890_-xy", "gitlab {}"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", "jwt {}"),
    ("abc.def-0123456789", "Authorization: Bearer {}"),
    ("dXNlcjpwYXNzd29yZDEyMw==", "Authorization: Basic {}"),
    ("hunter2", "postgres://ada:{}@db.example.org:5432/shop"),
    ("p@ss:w0rd", "postgres://ada:{}@db.example.org/shop"),
    ("hunter2", "password: {}"),
    ("hunter2", "PASSWORD={}"),
    ("hunter2", "DB_PASSWORD={}\nDB_USER=ada"),
    ("hunter2", '{{"user": "ada", "password": "{}"}}'),
    ("hunter2", "The password for the router is {}."),
    ("swordfish", "The password is {}."),
    ("swordfish", "my password is {} and my user is ada"),
    ("Sonnenblume", "Mein Passwort ist {}."),
    ("Sonnenblume", "Passwort: {}"),
    ("Sonne#blume", "Das Kennwort für das WLAN lautet {}, merk dir das"),
    ("Winter2026!", "Das WLAN-Passwort heißt {}"),
    ("Winter2026!", "**Passwort:** {}"),
    ("Winter2026", "Passwort Winter2026"),
    ("open sesame", 'the passphrase is "{}"'),
    ("4711", "Meine PIN ist {}."),
    ("4711", "PIN: {}"),
    ("471100", "die PIN für die Karte lautet {}"),
    ("4711", "PIN {}"),
    ("abcd1234efgh", "api_key = {}"),
    ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1", "aws_secret_access_key={}"),
    ("abcd1234efgh", "Der API-Schlüssel lautet {}"),
    ("abcd1234efgh", "https://example.org/x?token={}&page=2"),
    ("4111 1111 1111 1111", "my card is {}"),
    ("5500005555555559", "Karte {}, gültig bis 12/27"),
    ("3782-822463-10005", "amex {}"),
]


@pytest.mark.parametrize(("secret", "around"), SECRETS)
def test_a_secret_is_replaced_by_a_mark(secret, around):
    text = around.format(secret)
    clean = redact(text)
    assert secret not in clean
    assert MARK in clean
    assert redact(clean) == clean


def test_what_stands_around_a_secret_stays():
    assert redact("Bob's password is hunter2, call him at 5.") == "Bob's password is [secret], call him at 5."
    assert redact("postgres://ada:hunter2@db/shop") == "postgres://ada:[secret]@db/shop"
    assert redact("a?token=abcd1234efgh&page=2") == "a?token=[secret]&page=2"


def test_private_key_is_redacted_whole_and_truncated_key_to_end():
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
    assert redact(f"here:\n{key}\nthanks") == "here:\n[secret]\nthanks"
    assert redact(f"here:\n{key[:60]}") == "here:\n[secret]"


@pytest.mark.parametrize(
    "text",
    [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "order 4006381333931 and invoice 2026-000123",
        "Bestellnummer 4111111111111112",
        "IBAN DE89 3704 0044 0532 0130 00",
        "IBAN AT61 1904 3002 3453 7201",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "timestamp 1700000000000000",
        "The password must be at least 8 characters long.",
        "password: must have a digit",
        "def login(user: str, password: str) -> bool:",
        "password = os.environ['DB_PASSWORD']",
        "password: ${DB_PASSWORD}",
        "password = getpass()",
        "The password is wrong.",
        "Das Passwort ist falsch.",
        "Ich habe mein Passwort vergessen.",
        "password reset link",
        "max_tokens: 4096 and num_ctx=8192",
        "the token count is 15000 tokens",
        "GPIO pin 13 is high",
        "Authorization: Bearer <token>",
        "Bearer authentication is used",
        "sk-loading-indicator-wrapper",
        "http://127.0.0.1:8080/a@b",
        "call me at +49 170 1234567",
        "the secret is to keep stirring",
        "mapping: 1234",
    ],
)
def test_names_numbers_and_talk_about_passwords_stay(text):
    assert redact(text) == text


@given(st.text(alphabet=string.ascii_letters + string.digits + " :=/@-_.<>\"'\n", max_size=300))
def test_redacting_twice_is_redacting_once(text):
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece", ["password ", "a", "1 ", "sk-", "<private ", "://", "PIN für ", "-----BEGIN ", "eyJ."]
)
def test_a_long_text_of_one_piece_is_read_in_one_go(piece):
    # Quadratic reading of this much would take minutes; the test then never ends.
    assert redact(piece * (400_000 // len(piece)))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>x</private> b", "a  b"),
        ("Put `<private>` before it and `</private>` behind.\n\n- more\n", None),
        ("It is `<private>` <private>x</private> b", "It is `<private>`  b"),
        ("the password is hunter2!", f"the password is {MARK}!"),
    ],
)
def test_private_tag_in_backticks_within_file_is_left_alone(text, left):
    assert redact_file(text) == (text if left is None else left)


@pytest.mark.parametrize(
    "text",
    [
        "a <private>x\n\nand all the rest",
        "<private>a <private>b</private> c",
        "`<private>x</private>` and <private>",
        "It begins with -----BEGIN PRIVATE KEY----- and then\n\nall the rest",
    ],
)
def test_a_file_whose_rest_would_be_swallowed_is_refused(text):
    with pytest.raises(BadRequest, match="has no end"):
        redact_file(text)


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
    assert MemoryGate().allows(location)


@pytest.mark.parametrize(
    "location",
    ["https://api.example.com/v1", "http://8.8.8.8:11434", "https://user:pass@models.example.org", "http://"],
)
def test_what_is_elsewhere_is_not(location):
    assert not MemoryGate().allows(location)


def test_the_user_decides_by_server():
    gate = MemoryGate.parse("https://api.example.com=on, 192.168.1.5:11434=off, http://[fd00::1]=off")
    assert gate.allows("https://api.example.com/v1")
    assert gate.allows("https://api.example.com:8443/v1")
    assert not gate.allows("https://other.example.com/v1")
    assert not gate.allows("http://192.168.1.5:11434")
    assert gate.allows("http://192.168.1.5:8080")
    assert not gate.allows("http://[fd00::1]:11434")
    assert MemoryGate.parse("").allows("http://127.0.0.1:11434")


@pytest.mark.parametrize(
    "text", ["https://api.example.com", "=on", "api.example.com=yes", "http://x:port=on"]
)
def test_nonsense_is_refused(text):
    with pytest.raises(ConfigError, match="memories"):
        MemoryGate.parse(text)
