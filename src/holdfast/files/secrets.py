"""Which files look like secrets, by their names: a table. What they hold is never looked at."""

import unicodedata
from collections.abc import Iterable
from fnmatch import translate

from holdfast.patterns import late

# Written small: names are compared without regard to case, as some file systems do.
_FILES = (
    ".env*", "*.env",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity",
    "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.ppk", "*.jks", "*.keystore", "*.keychain", "*.keychain-db",
    "*.kdb", "*.kdbx", "*.ovpn", "*.age", "wallet.dat",
    ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".s3cfg", ".boto",
    ".git-credentials", ".htpasswd", ".dockercfg", ".vault-token", ".terraformrc", "*.tfstate", "*.tfstate.*",
    "*.tfvars", "kubeconfig", "credentials*", "client_secret*.json", "service-account*.json",
    "secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml", "secrets.ini", "secrets.txt",
    "password.txt", "passwords", "passwords.csv", "passwords.json", "passwords.txt",
    "environ", "shadow", "gshadow", "shadow-", "gshadow-",
    ".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".sqlite_history",
    "cookies", "cookies.sqlite", "cookies.txt", "logins.json", "key3.db", "key4.db", "login data",
)  # fmt: skip
_FOLDERS = (
    ".ssh", ".aws", ".gnupg", ".gpg", ".azure", ".kube", ".gcloud", "gcloud", ".password-store",
    ".oci", ".chamber", "keychains", "keyrings", ".mozilla", ".thunderbird",
)  # fmt: skip
# Two names one below the other.
_BELOW = (("gh", "hosts.yml"), (".docker", "config.json"), (".git", "config"))
# What shows how a file with secrets would look has none.
_SAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.example", "*.sample", "*.pub")

# Every name in a folder is looked at, so all are one pattern.
_COPIES = ("~", ".bak", ".backup", ".old", ".orig", ".save", ".swp")
_FILE, _SAMPLE = (late("|".join(map(translate, names))) for names in (_FILES, _SAMPLES))


def is_secret(parts: Iterable[str]) -> bool:
    """Whether a path, given by its parts, leads to what looks like a secret."""
    names = [unicodedata.normalize("NFKC", part).casefold() for part in parts]
    if not names:
        return False
    if any(name in _FOLDERS for name in names):
        return True
    last, above = _original(names[-1]), names[-2] if len(names) > 1 else ""
    if _SAMPLE.match(last):
        return False
    return _FILE.match(last) is not None or (above, last) in _BELOW


def _original(name: str) -> str:
    """The name of the file that this one is a copy of."""
    end = len(name)
    while copy := next((ending for ending in _COPIES if name.endswith(ending, 0, end)), ""):
        end -= len(copy)
    return name[:end]
