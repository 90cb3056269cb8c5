"""What an S3 server answers when it refuses, in words that say what to do about it.

Servers tell the reason as a code inside of their answer; the library hands it on as text. Knows no requests.
"""

import re

from holdfast.memory.workspace.base import WorkspaceUnreachable

_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d{3})")

_KEYS = "See that s3_key and s3_secret are those of this server, and that they may read, write and list here."
_LATER = "Nothing is lost: what is to be written waits, and is tried again every minute."


class ServerUnreachable(WorkspaceUnreachable):
    """The server was not reached, or the connection broke: nobody knows whether it did what it was asked."""


# What the codes mean, and the next step. The bucket is named in front.
_EXPLANATIONS = {
    "NoSuchBucket": ("There is no such bucket.", "Make it, or name another one in the setting workspace."),
    "InvalidBucketName": ("No bucket can have this name.", "Name another one in the setting workspace."),
    "InvalidAccessKeyId": ("The server does not know the key.", _KEYS),
    "SignatureDoesNotMatch": ("The server does not accept the secret of the key.", _KEYS),
    "AccessDenied": ("The key does not reach so far.", _KEYS),
    "ExpiredToken": ("The key is no longer valid.", _KEYS),
    "RequestTimeTooSkewed": (
        "The clock of this machine and that of the server differ too much.",
        "Set the clock: most systems do so by themselves when network time is switched on.",
    ),
    "AuthorizationHeaderMalformed": ("The bucket is in another region.", "Set s3_region."),
    "PermanentRedirect": ("The bucket is in another region.", "Set s3_region, or s3_endpoint."),
    "SlowDown": ("The server asks for fewer requests.", _LATER),
    "TooManyRequests": ("The server asks for fewer requests.", _LATER),
    "ServiceUnavailable": ("The server is busy or starts just now.", _LATER),
    "InternalError": ("The server has trouble of its own.", _LATER),
    "XMinioStorageFull": ("The disk of the server is full.", "Make room there."),
}
# For answers without such a code.
_BY_STATUS = {
    "301": "PermanentRedirect",
    "403": "AccessDenied",
    "429": "TooManyRequests",
    "500": "InternalError",
    "503": "ServiceUnavailable",
}


def error_code(told: str) -> str:
    """The code in a library's account of a refusal; empty where the server was not reached."""
    if found := _CODE.search(told):
        return found[1]
    status = _STATUS.search(told)
    return _BY_STATUS.get(status[1], f"HTTP {status[1]}") if status else ""


def translate_error(place: str, error: Exception) -> WorkspaceUnreachable:
    """An error of the library in our words."""
    told = str(error)
    code = error_code(told)
    if code in _EXPLANATIONS:
        sentence, hint = _EXPLANATIONS[code]
        return WorkspaceUnreachable(f"The notes in {place} cannot be reached: {sentence}", hint=hint)
    if code:
        return WorkspaceUnreachable(
            f"The notes in {place} cannot be reached: the server answered {code}.",
            hint="Its log says more.",
        )
    # Behind the first line stands what the library was made of.
    first = told.partition("\n")[0].rpartition(" - ")[2]
    return ServerUnreachable(
        f"The notes in {place} cannot be reached: {first.strip()[:300]}.",
        hint=f"See that the server runs and that s3_endpoint is its address. {_LATER}",
    )


def unlistable_error(place: str, error: Exception) -> WorkspaceUnreachable:
    """Somebody else put an object there whose name is no path."""
    first = str(error).partition("Debug source:")[0].strip()
    return WorkspaceUnreachable(
        f"{place} has an object whose name is no path, so nothing there can be listed: {first[:300]!r}",
        hint="Rename it or move it out of the prefix; nothing was changed.",
    )
