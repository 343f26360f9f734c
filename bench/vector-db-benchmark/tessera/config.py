"""Settings from the environment, as those of the other engines."""

import os

TESSERA_PORT = os.getenv("TESSERA_PORT", "3000")
TESSERA_API_KEY = os.getenv("TESSERA_API_KEY")
TESSERA_PROJECT = os.getenv("TESSERA_PROJECT", "vector-db-benchmark")
ALL = "all"


def address_of(host: str) -> str:
    """The host of the command line is a name, or the whole address of a service behind a proxy."""
    return host if "://" in host else f"http://{host}:{TESSERA_PORT}"


def required_key() -> str:
    if TESSERA_API_KEY is None:
        raise ValueError("set TESSERA_API_KEY to an API key that may create projects")
    return TESSERA_API_KEY
