"""The native modules, and a README and links that work anywhere, from the address in pyproject.toml if there is one."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# What stands between the address and the path of a page, and between the address and that of a picture.
PAGES, PICTURES = "blob/main", "raw/main"
LINK = re.compile(r"(?P<picture>!?)(?P<text>\[[^\]]*\])\((?!https?://|#)(?P<path>[^)\s]+)\)")


def absolute(text: str, home: str | None) -> str:
    """Return Markdown whose relative links and pictures begin with an address, or without them if there is none."""

    def replaced(link: re.Match[str]) -> str:
        if home is None:
            return "" if link["picture"] else link["text"][1:-1]
        place = PICTURES if link["picture"] else PAGES
        return f"{link['picture']}{link['text']}({home}/{place}/{link['path']})"

    return LINK.sub(replaced, text)


class AddressHook(MetadataHookInterface):
    """Sets the README and the links of the project."""

    def update(self, metadata: dict) -> None:
        home = self.config.get("home")
        readme = pathlib.Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(readme, home),
        }
        metadata["urls"] = (
            {}
            if home is None
            else {
                "Homepage": home,
                "Documentation": f"{home}/{PAGES}/docs",
                "Changelog": f"{home}/{PAGES}/CHANGELOG.md",
                "Issues": f"{home}/issues",
            }
        )


# The folder with all native code.
CORE = "river_budget/_core"
# The module with Cython's own code for memoryviews, which all others use; it has no source.
SHARED = "_shared"
# The hot loops ask for more than -O2 in their headers. Products are never fused, so that all machines get
# the same bits.
FLAGS = [
    "-O2",
    "-fno-align-functions",
    "-fno-align-jumps",
    "-fno-asynchronous-unwind-tables",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-Wno-psabi",
]
# Modules whose rounds take as long if they are compiled for their size.
SMALL = {
    SHARED, "discriminant", "experts", "mixture", "readings", "regions", "rehearsal", "repeats",
    "slopes", "splits", "sums", "tickets", "tiles", "tree", "vectors",
}  # fmt: skip
# The variables with flags of the user.
GIVEN = ("ARCHFLAGS", "CFLAGS", "LDFLAGS")
# If it is set, a missing compiler is an error, and none is installed.
REQUIRED = "RIVER_BUDGET_REQUIRE_COMPILER"
# If it is set, the modules check bounds, and AddressSanitizer checks them; see CONTRIBUTING.md.
CHECKED = "RIVER_BUDGET_CHECKED"
CHECKS = ["-fsanitize=address"]


def installed_compiler() -> list[str] | None:
    """Return the command of GCC or Clang, or None if there is none. `CC` names another one."""
    named = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "")
    for command in (named, ["gcc"], ["clang"], ["cc"]):
        if command and shutil.which(command[0]):
            return command
    return None


def is_current(root: pathlib.Path, source: pathlib.Path) -> bool:
    """Return whether a module was compiled here, and later than all that it is made of was changed.

    So a wheel takes what an editable install has compiled, and that one what has not changed.
    """
    target = root / source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
    if is_special() or not target.exists():
        return False
    made_of = [pathlib.Path(__file__), *root.glob(f"{CORE}/*.pxd"), *root.glob(f"{CORE}/*.h")]
    made_of += [path for path in [root / source] if path.exists()]
    found = target.stat()
    # A copy of a checkout, in an image for instance, may keep the times of its files.
    was_copied = found.st_ctime - found.st_mtime > 1.0
    return not was_copied and found.st_mtime > max(path.stat().st_mtime for path in made_of)


def is_special() -> bool:
    """Return whether a variable asks for modules other than those that the project makes for all."""
    return any(os.environ.get(name) for name in (CHECKED, "CC", *GIVEN))


def link_options() -> list[str]:
    """Return what makes the compiler link an extension module."""
    if sys.platform == "darwin":
        return ["-bundle", "-undefined", "dynamic_lookup"]
    if sys.platform == "win32":
        library = f"python{sys.version_info[0]}{sys.version_info[1]}"
        return ["-shared", f"-L{sys.base_prefix}/libs", f"-l{library}"]
    return ["-shared", "-s"]


def compile_module(root: pathlib.Path, source: pathlib.Path) -> pathlib.Path:
    """Compile a Cython file to an extension module beside it, and return it; both relative to `root`.

    The same sources give the same bytes in any directory.
    """
    target = source.with_name(source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
    if is_current(root, source):
        return target
    compiler = installed_compiler() or [sys.executable, "-m", "ziglang", "cc"]
    paths = sysconfig.get_paths()
    includes = [f"-I{path}" for path in (source.parent, paths["include"], paths["platinclude"])]
    given = [flag for name in GIVEN for flag in shlex.split(os.environ.get(name, ""))]
    with tempfile.TemporaryDirectory() as directory:
        c = pathlib.Path(directory, f"{source.stem}.c")
        shared = f"{CORE.replace('/', '.')}.{SHARED}"
        is_checked = bool(os.environ.get(CHECKED))
        # A directive in the file itself would win over this one.
        directives = ["-X", f"auto_pickle=False,binding=False,boundscheck={is_checked}"]
        given_source = ["-3", *directives, f"--shared={shared}", source, "-o", c]
        is_shared = source.stem == SHARED
        arguments = [f"--generate-shared={c}"] if is_shared else given_source
        subprocess.run([sys.executable, "-m", "cython", *arguments], cwd=root, check=True)
        compiled, built = c.with_suffix(".o"), pathlib.Path(directory, target.name)
        mapped = f"-ffile-prefix-map={directory}=."
        checks = CHECKS if is_checked else []
        size = ["-Os"] if source.stem in SMALL else []
        position = [] if sys.platform == "win32" else ["-fPIC"]
        flags = [*FLAGS, *checks, *size, *position, mapped, *includes, *given]
        # Two commands, since the compiler of Pyodide exports what it finds in the object file.
        subprocess.run([*compiler, *flags, "-c", c, "-o", compiled], cwd=root, check=True)
        linked = [*checks, *link_options(), *given, compiled]
        subprocess.run([*compiler, *linked, "-o", built], cwd=root, check=True)
        # A library in use is replaced, not changed.
        (root / target).unlink(missing_ok=True)
        shutil.copy(built, root / target)
        if is_special():
            os.utime(root / target, (0, 0))  # no other build takes it
    return target


class NativeHook(BuildHookInterface):
    """Compiles the native modules into the package, for wheels and editable installs alike."""

    def dependencies(self) -> list[str]:
        """Return the compiler as a build requirement where none is installed."""
        if self.target_name != "wheel" or installed_compiler():
            return []
        if os.environ.get(REQUIRED):
            raise RuntimeError(f"there is no C compiler, and {REQUIRED} is set")
        return ["ziglang"]

    def initialize(self, version: str, build_data: dict) -> None:
        if self.target_name != "wheel":
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        root = pathlib.Path(self.root)
        sources = [pathlib.Path(CORE, f"{SHARED}.pyx")]
        sources += [path.relative_to(root) for path in sorted(root.glob(f"{CORE}/*.pyx"))]
        # It is read when it is first asked for, which must not be by several threads.
        sysconfig.get_config_vars()
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            for target in threads.map(lambda source: compile_module(root, source), sources):
                build_data["artifacts"].append(f"/{target.as_posix()}")
