"""How secrets are kept: as digests, from which nobody gets them back.

Random ones are long enough for a plain digest; a password is chosen by a person, so trying one costs time.
"""

import base64
import hashlib
import hmac
import secrets

# About a twentieth of a second and 32 MB for one try.
_COST, _BLOCK, _PARALLELISM = 2**15, 8, 1
_MEMORY = 64 << 20
_SALT = 16


def new_secret() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def is_secret(given: str, digest: str) -> bool:
    """Takes the same time whatever is given."""
    return hmac.compare_digest(digest_of(given), digest)


def password_digest(password: str) -> str:
    """With a salt of its own, and with what it took to make it, so that this can change later."""
    salt = secrets.token_bytes(_SALT)
    made = _scrypt(password, salt, _COST, _BLOCK, _PARALLELISM)
    numbers = (str(number) for number in (_COST, _BLOCK, _PARALLELISM))
    return "$".join(("scrypt", *numbers, _text(salt), _text(made)))


def is_password(given: str, digest: str) -> bool:
    _, cost, block, lanes, salt, made = digest.split("$")
    tried = _scrypt(given, base64.b64decode(salt), int(cost), int(block), int(lanes))
    return hmac.compare_digest(tried, base64.b64decode(made))


def _scrypt(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    words = password.encode(errors="surrogatepass")
    return hashlib.scrypt(words, salt=salt, n=cost, r=block, p=lanes, maxmem=_MEMORY)


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
