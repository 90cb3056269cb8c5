"""Loads all modules of Holdfast; for the process that `evals.forked` copies."""

import gc
import pkgutil
from importlib import import_module

import holdfast

# Optional parts, and what is a program of its own.
_LEFT_OUT = ("holdfast.backends", "holdfast.testing", "holdfast.demo")
# What a server loads of others when it is started, and not before.
_OTHERS = (
    "anyio._backends._asyncio",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
)

for _module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
    if not _module.name.startswith(_LEFT_OUT) and not _module.name.endswith("__main__"):
        import_module(_module.name)
for _name in _OTHERS:
    import_module(_name)
# What was loaded stays: no copy has to look through it for garbage.
gc.freeze()
