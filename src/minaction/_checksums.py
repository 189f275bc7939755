"""The checksum in our files: of the whole file, with zeros in the checksum's own place."""

from __future__ import annotations

import os
import struct
from typing import Any

NO_CHECKSUM = "0" * 32
KEY = b'"checksum": "'
"""What stands before it in the file's header."""


def digest() -> Any:
    """What is fed with a file's bytes and gives their checksum."""
    import hashlib  # here, because it brings OpenSSL along, a tenth of what a runtime without JAX takes to import

    return hashlib.blake2b(digest_size=len(NO_CHECKSUM) // 2)


def is_as_written(path: str | os.PathLike[str]) -> bool:
    """Whether no bit has changed since a safetensors file was written; one without a checksum is let pass."""
    with open(path, "rb") as file:
        length = file.read(8)
        text = file.read(struct.unpack("<Q", length)[0])
        begin, there, rest = text.partition(KEY)
        if not there:
            return True
        found = digest()
        found.update(length + begin + there + NO_CHECKSUM.encode() + rest[len(NO_CHECKSUM) :])
        while block := file.read(1 << 20):
            found.update(block)
    return rest[: len(NO_CHECKSUM)] == found.hexdigest().encode()
