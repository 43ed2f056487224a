"""Print the docstrings of the public API of the installed libraries as JSON. Run as a script, by `pydocs.py`.

A process of its own keeps the imports of some thousand modules, and whatever they change, out of the caller's. Output:
``{"versions": {library: version}, "objects": [[qualified name, docstring], ...]}``, sorted by name.

Public is what `__all__` lists, else what has no leading underscore and was defined in the same library; in modules and
classes whose own path has no underscore either. Imports nothing of this package.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import pkgutil
import sys
import types
import warnings
from collections.abc import Iterator

LIBRARIES = ("numba", "numpy", "pandas", "scipy")

# Standard modules that act when imported, need a screen, are tests or tools and no API, or exist on one system only.
NOT_IMPORTED = {
    "antigravity", "asynchat", "asyncore", "crypt", "curses", "dbm", "distutils", "ensurepip", "idlelib", "imp",
    "lib2to3", "msilib", "msvcrt", "nis", "nt", "ntpath", "ossaudiodev", "posix", "posixpath", "pydoc_data", "readline",
    "smtpd", "spwd", "test", "this", "tkinter", "turtle", "turtledemo", "venv", "winreg", "winsound",
}  # fmt: skip
# Parts of module names that are no API, in any library; cuda, because what it offers depends on the machine.
NOT_API = {"conftest", "cuda", "main", "setup", "test", "testing", "tests"}


def module_names(top: str) -> Iterator[str]:
    """The library's public modules; those below a package are found without importing them."""
    yield top
    module = sys.modules.get(top)
    for info in pkgutil.iter_modules(getattr(module, "__path__", []), f"{top}."):
        part = info.name.rsplit(".", 1)[-1]
        if part.startswith("_") or part in NOT_API:
            continue
        if load(info.name) is not None:
            yield from module_names(info.name)


def load(name: str) -> types.ModuleType | None:
    """The module, or None if it cannot be imported here."""
    try:
        return importlib.import_module(name)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        return None


def attribute_of(thing: object, name: str, default: object = None) -> object:
    """`getattr` that survives objects which raise anything at all when asked."""
    try:
        return getattr(thing, name, default)
    except Exception:  # noqa: BLE001
        return default


def docstring(thing: object) -> str | None:
    """The object's own docstring, not one that it merely has from its class."""
    text = attribute_of(thing, "__doc__")
    if not isinstance(text, str) or text == attribute_of(type(thing), "__doc__"):
        return None
    return inspect.cleandoc(text)


def documented(top: str) -> Iterator[tuple[str, str]]:
    """Qualified names and docstrings of the public objects of a library."""
    for name in module_names(top):
        module = sys.modules.get(name)
        if module is None:
            continue
        listed = getattr(module, "__all__", None)
        for attribute in sorted(set(map(str, listed)) if listed is not None else vars(module)):
            thing = attribute_of(module, attribute)
            if attribute.startswith("_") or isinstance(thing, types.ModuleType):
                continue
            if listed is None and str(attribute_of(thing, "__module__") or top).split(".")[0] != top:
                continue
            if not (callable(thing) or inspect.isclass(thing)):
                continue
            text = docstring(thing)
            if text:
                yield f"{name}.{attribute}", text
            if inspect.isclass(thing):
                for member in sorted(vars(thing)):
                    value = vars(thing)[member]
                    value = attribute_of(value, "__func__", value)  # class and static methods
                    if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                        text = docstring(value)
                        if text:
                            yield f"{name}.{attribute}.{member}", text


def main() -> None:
    """Collect and print."""
    warnings.simplefilter("ignore")
    objects: dict[str, str] = {}
    versions = {"python": sys.version.split()[0]}
    standard = sorted(n for n in sys.stdlib_module_names if not n.startswith("_") and n not in NOT_IMPORTED)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for top in (*standard, *LIBRARIES):
            module = load(top)
            if module is None:
                continue
            if top in LIBRARIES:
                versions[top] = module.__version__
            objects.update(documented(top))
    json.dump({"versions": versions, "objects": sorted(objects.items())}, sys.stdout)


if __name__ == "__main__":
    main()
