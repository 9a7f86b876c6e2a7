"""Names that a package exports, but imports only when somebody asks for them: PyTorch alone takes two seconds."""

import importlib
import sys
from collections.abc import Callable
from typing import Any


def lazily(package: str, *modules: str) -> Callable[[str], Any]:
    """A `__getattr__` for a package: a name of its `__all__` that is not there yet is looked for in these modules."""

    def get(name: str) -> Any:
        if name in sys.modules[package].__all__:
            for module in modules:
                found = importlib.import_module(f"{package}.{module}")
                if hasattr(found, name):
                    return getattr(found, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get
