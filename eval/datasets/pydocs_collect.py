"""Print the docstrings of the public API of the installed libraries as JSON. Run as a script, by `pydocs.py`.

A process of its own keeps the imports of some hundred modules, and whatever they change, out of the caller's. Output:
``{"versions": {library: version}, "objects": [[qualified name, docstring], ...]}``, sorted by name.

Public are the modules named here and those of the standard library without a leading underscore; in them, what
`__all__` lists, else what has no leading underscore and was defined in the same library; in classes also what they
inherit within the library. Imports nothing of this package.
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

# The modules that each library documents as its API. They are named, not searched for: most of what lies below pandas
# and numba is internal whatever its name (pandas.core, numba.core), and what can be imported there depends on optional
# dependencies and on the machine. A module that the installed version lacks is passed over.
LIBRARIES = {
    "numba": ("experimental", "extending", "typed", "types"),
    "numpy": (
        "char", "ctypeslib", "dtypes", "exceptions", "fft", "lib", "lib.array_utils", "lib.introspect", "lib.mixins",
        "lib.npyio", "lib.scimath", "lib.stride_tricks", "linalg", "ma", "ma.mrecords", "polynomial",
        "polynomial.chebyshev", "polynomial.hermite", "polynomial.hermite_e", "polynomial.laguerre",
        "polynomial.legendre", "polynomial.polynomial", "random", "rec", "strings", "testing", "typing",
    ),
    "pandas": (
        "api.extensions", "api.indexers", "api.interchange", "api.types", "api.typing", "arrays", "errors", "io.json",
        "plotting", "testing", "tseries.api", "tseries.frequencies", "tseries.holiday", "tseries.offsets",
    ),
    "scipy": (
        "cluster", "cluster.hierarchy", "cluster.vq", "constants", "datasets", "differentiate", "fft", "fftpack",
        "integrate", "interpolate", "io", "io.arff", "io.matlab", "io.wavfile", "linalg", "linalg.blas",
        "linalg.interpolative", "linalg.lapack", "ndimage", "odr", "optimize", "optimize.elementwise", "signal",
        "signal.windows", "sparse", "sparse.csgraph", "sparse.linalg", "spatial", "spatial.distance",
        "spatial.transform", "special", "stats", "stats.contingency", "stats.distributions", "stats.mstats",
        "stats.qmc", "stats.sampling",
    ),
}  # fmt: skip

# Standard modules that act when imported, need a screen, are tests or tools and no API, or exist on one system only.
NOT_IMPORTED = {
    "antigravity", "asynchat", "asyncore", "crypt", "curses", "dbm", "distutils", "ensurepip", "idlelib", "imp",
    "lib2to3", "msilib", "msvcrt", "nis", "nt", "ntpath", "ossaudiodev", "posix", "posixpath", "pydoc_data", "readline",
    "smtpd", "spwd", "test", "this", "tkinter", "turtle", "turtledemo", "venv", "winreg", "winsound",
}  # fmt: skip
# Parts of the standard library's module names that are no API.
NOT_API = {"main", "test", "tests"}


def module_names(top: str) -> Iterator[str]:
    """A standard module and the public modules below it, which are found without importing them."""
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


def library_of(thing: object, default: str = "") -> str:
    """First part of the name of the module that defined `thing`."""
    return str(attribute_of(thing, "__module__") or default).split(".")[0]


def members(cls: type, top: str) -> dict[str, object]:
    """Public members of a class, also those it inherits from classes of its library, public or not."""
    found: dict[str, object] = {}
    for base in cls.__mro__:
        if base is cls or library_of(base) == top:
            for name, value in vars(base).items():
                found.setdefault(name, value)
    return {name: value for name, value in sorted(found.items()) if not name.startswith("_")}


def described(name: str, thing: object, top: str, *, nested: bool = False) -> Iterator[tuple[str, str]]:
    """Qualified names and docstrings of an object and, where it is a class, of its members."""
    text = docstring(thing)
    if text:
        yield name, text
    if not inspect.isclass(thing):
        return
    for member, value in members(thing, top).items():
        inner = attribute_of(thing, member)
        if inspect.isclass(inner) and library_of(inner) == top and not nested:
            # A class in a class, or an accessor that hands one out (Series.str).
            yield from described(f"{name}.{member}", inner, top, nested=True)
        elif callable(value) or inspect.isdatadescriptor(value):
            text = docstring(attribute_of(value, "__func__", value))  # class and static methods
            if text:
                yield f"{name}.{member}", text


def documented(name: str, top: str) -> Iterator[tuple[str, str]]:
    """Qualified names and docstrings of the public objects of an imported module."""
    module = sys.modules[name]
    listed = getattr(module, "__all__", None)
    for attribute in sorted(set(map(str, listed)) if listed is not None else vars(module)):
        thing = attribute_of(module, attribute)
        if attribute.startswith("_") or isinstance(thing, types.ModuleType) or not callable(thing):
            continue
        if listed is None and library_of(thing, top) != top:
            continue
        yield from described(f"{name}.{attribute}", thing, top)


def main() -> None:
    """Collect and print."""
    warnings.simplefilter("ignore")
    objects: dict[str, str] = {}
    versions = {"python": sys.version.split()[0]}
    standard = sorted(n for n in sys.stdlib_module_names if not n.startswith("_") and n not in NOT_IMPORTED)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for top in standard:
            if load(top) is not None:
                for name in module_names(top):
                    objects.update(documented(name, top))
        for top, below in LIBRARIES.items():
            # Not `load`: a collection without one of the libraries would be another one.
            versions[top] = importlib.import_module(top).__version__
            for name in (top, *(f"{top}.{part}" for part in below)):
                if load(name) is not None:
                    objects.update(documented(name, top))
    json.dump({"versions": versions, "objects": sorted(objects.items())}, sys.stdout)


if __name__ == "__main__":
    main()
