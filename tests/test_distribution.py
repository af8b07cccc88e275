"""The wheel and the sdist: what is in them, and that both work away from the repository."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from readme_renderer import markdown
from user_code import WRONG, errors_of, write_user_code

import hatch_build
import river_budget as rb

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
HOME = SETTINGS["tool"]["hatch"]["metadata"]["hooks"]["custom"].get("home")
README = (ROOT / "README.md").read_text()


def run(*command, cwd):
    """Return what a command prints, without the repository on its path."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env=variables, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no repository")
def test_no_file_of_the_repository_is_one_that_it_ignores():
    listed = run(
        "git", "ls-files", "--cached", "--ignored", "--exclude-per-directory=.gitignore", cwd=ROOT
    )
    assert listed == ""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a directory with the wheel and the sdist."""
    directory = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "hatchling", "build", "-d", directory, cwd=ROOT)
    return directory


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        return email.message_from_string(archive.read(name).decode())


@pytest.fixture(scope="module")
def unpacked(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(built, filter="data")
    return built / path.name.removesuffix(".tar.gz")


def pip(python, *arguments):
    run(sys.executable, "-m", "pip", "--python", python, *arguments, "--quiet", cwd=python.parent)


def environment(wheel, directory):
    """Return the Python of a new environment that has the wheel, and the libraries of this one."""
    venv.create(directory, with_pip=False)
    python = directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip(python, "install", "--no-deps", "--no-index", wheel)
    site = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=directory
    )
    # A path in such a file comes last, and the editable install that it may have is not followed.
    Path(site.strip(), "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return python


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Return the Python of an environment that no test changes."""
    return environment(wheel, tmp_path_factory.mktemp("environment"))


@pytest.mark.slow
def test_the_wheel_has_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    of_package = {name for name in names if ".dist-info/" not in name}
    tracked = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "river_budget").rglob("*")
        if path.suffix in (".py", ".pyi")
        or path.name == "py.typed"
        or path.parent.name == "published"
    }
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    sources = (ROOT / "river_budget").rglob("*.pyx")
    native = {path.relative_to(ROOT).with_suffix(suffix).as_posix() for path in sources}
    assert of_package == tracked | native | {f"river_budget/_core/_shared{suffix}"}
    assert wheel.stat().st_size < 1_450_000


@pytest.mark.slow
def test_the_sdist_has_no_leftovers(unpacked):
    names = {path.name for path in unpacked.rglob("*")}
    assert {"tests", "benchmarks", "demos", "docs", "hatch_build.py", "CITATION.cff"} <= names
    assert {"__pycache__", ".git", ".ruff_cache", ".mypy_cache", ".hypothesis"} & names == set()


@pytest.mark.slow
def test_the_sdist_builds_the_same_wheel(unpacked, wheel, tmp_path):
    """It has all native sources as they are here, so it is given what they were compiled to."""
    sources, given = tmp_path / "sources", (".pyx", ".pxd", ".h")
    shutil.copytree(unpacked, sources)
    for path in (ROOT / hatch_build.CORE).iterdir():
        if path.suffix in given:
            assert (sources / path.relative_to(ROOT)).read_bytes() == path.read_bytes()
        elif path.suffix == ".so":
            shutil.copyfile(path, sources / path.relative_to(ROOT))
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=sources)
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(tmp_path / wheel.name) as other:
        contents = [{i.filename: i.CRC for i in archive.infolist()} for archive in (one, other)]
    assert contents[0] == contents[1]


def test_what_is_compiled_again(tmp_path, monkeypatch):
    for name in (hatch_build.CHECKED, "CC", *hatch_build.GIVEN):
        monkeypatch.delenv(name, raising=False)
    core = tmp_path / hatch_build.CORE
    core.mkdir(parents=True)
    source, header = Path(hatch_build.CORE, "a.pyx"), core / "b.h"
    made = tmp_path / source.with_name(f"a{sysconfig.get_config_var('EXT_SUFFIX')}")
    long_ago = time.time() - 10**6
    for path in (tmp_path / source, header):
        path.touch()
        os.utime(path, (long_ago, long_ago))
    assert not hatch_build.is_current(tmp_path, source)
    made.touch()
    now = made.stat().st_mtime
    monkeypatch.setattr(hatch_build, "__file__", str(header))
    assert hatch_build.is_current(tmp_path, source)
    monkeypatch.setenv("CFLAGS", "-O0")
    assert not hatch_build.is_current(tmp_path, source)
    monkeypatch.delenv("CFLAGS")
    os.utime(header, (now + 1, now + 1))
    assert not hatch_build.is_current(tmp_path, source)
    os.utime(header, (long_ago, long_ago))
    os.utime(made, (now - 10, now - 10))  # as a copy that keeps the times
    assert not hatch_build.is_current(tmp_path, source)


@pytest.mark.slow
def test_the_same_sources_give_the_same_bytes_in_any_directory(unpacked):
    module = Path(hatch_build.CORE, "gram.pyx")
    assert not list(unpacked.rglob("*.so"))
    made = [hatch_build.compile_module(root, module) for root in (ROOT, unpacked)]
    first, second = (
        (root / path).read_bytes() for root, path in zip((ROOT, unpacked), made, strict=True)
    )
    assert first == second


LINKED = "[a](docs/a.md#b) ![c](d.png) [e](https://riverml.xyz) [f](#g)"


@pytest.mark.parametrize(
    ("home", "shown"),
    [
        (
            "https://h.org",
            "[a](https://h.org/blob/main/docs/a.md#b) ![c](https://h.org/raw/main/d.png)",
        ),
        (None, "a "),
    ],
)
def test_relative_links_begin_with_the_address_of_the_project(home, shown):
    kept = " [e](https://riverml.xyz) [f](#g)"
    assert hatch_build.absolute(LINKED, home) == shown + kept


@pytest.mark.slow
def test_no_link_of_the_metadata_is_dead(metadata):
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    assert text.strip() == hatch_build.absolute(README, HOME).strip()
    assert re.findall(r"\]\((?!https://)", text) == []
    assert all(HOME in link for link in metadata.get_all("Project-URL", []))


@pytest.mark.slow
def test_a_package_index_can_render_the_readme(metadata):
    assert markdown.render(metadata.get_payload()) is not None


def test_the_oldest_python_has_a_classifier():
    classifiers = SETTINGS["project"]["classifiers"]
    pythons = [line.rpartition(" ")[2] for line in classifiers if " :: 3." in line]
    assert f">={pythons[0]}" == SETTINGS["project"]["requires-python"]
    assert pythons == [f"3.{11 + i}" for i in range(len(pythons))]


def test_the_citation_is_of_the_last_release():
    citation = dict(
        re.findall(r'^([a-z-]+): "?(.*?)"?$', (ROOT / "CITATION.cff").read_text(), re.M)
    )
    release = re.search(r"^## (\S+), (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert (citation["version"], citation["date-released"]) == release.groups()
    assert citation["version"] == rb.__version__
    assert citation["license"] == SETTINGS["project"]["license"]


TYPED = """
import river_budget as rb

model = rb.Forgetron(budget=10)
size: int = model.memory_bytes
reveal_type(model.decision_function_one({"a": 1.0}))
"""


@pytest.mark.slow
def test_an_installed_wheel_is_typed(installed, tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(TYPED)
    bad.write_text(TYPED.replace("size: int", "size: str"))
    # What mypy found out about NumPy and River is kept from one run of the tests to the next.
    kept = ["--cache-dir", ROOT / ".mypy_cache" / "installed"]
    check = [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed, *kept]
    with pytest.raises(AssertionError) as found:
        run(*check, good, bad, *write_user_code(tmp_path), cwd=tmp_path)
    said = str(found.value)
    assert set(re.findall(r"\b(good|bad)\.py:\d+: (\w+: \w+)", said)) == {
        ("bad", "error: Incompatible"),
        ("bad", "note: Revealed"),
        ("good", "note: Revealed"),
    }
    assert said.count('Revealed type is "float"') == said.count("Revealed type") > 1
    assert errors_of(said) == WRONG, said


SNIPPETS = """
import pathlib, re, sys
import river_budget

assert pathlib.Path(river_budget.__file__).is_relative_to(sys.prefix), river_budget.__file__
sys.path.append(sys.argv[2])
import mock_kafka

text = pathlib.Path(sys.argv[1]).read_text()
with mock_kafka.broker() as address:
    app = mock_kafka.application(address, "readme", state_dir=pathlib.Path("state"))
    names = {"app": app, "events": app.topic("events"), "answers": app.topic("answers")}
    for snippet in re.findall(r"```python\\n(.*?)```", text, re.DOTALL):
        exec(snippet, names)
print("done")
"""


@pytest.mark.slow
def test_the_readme_runs_with_an_installed_wheel(installed, tmp_path):
    pytest.importorskip("quixstreams")
    script = tmp_path / "snippets.py"
    script.write_text(SNIPPETS)
    said = run(installed, script, ROOT / "README.md", ROOT / "demos", cwd=tmp_path)
    assert said.splitlines()[-1] == "done"


@pytest.mark.slow
def test_an_installed_wheel_has_the_command(installed, tmp_path):
    command = installed.with_name(f"river-budget{installed.suffix}")
    assert "compare" in run(command, "--help", cwd=tmp_path)


@pytest.mark.slow
def test_an_installed_wheel_passes_tests_of_the_sdist(installed, unpacked, tmp_path):
    tests = tmp_path / "sdist"
    shutil.copytree(unpacked, tests, ignore=shutil.ignore_patterns("river_budget"))
    chosen = ["tests/test_layers.py", "tests/perceptrons/test_kernel_perceptron.py"]
    said = run(installed, "-m", "pytest", "-q", "-m", "not slow", *chosen, cwd=tests)
    assert "passed" in said


@pytest.mark.slow
def test_an_uninstalled_wheel_leaves_nothing(installed, tmp_path):
    root = installed.parents[1]
    python = shutil.copytree(root, tmp_path / "copy", symlinks=True) / installed.relative_to(root)
    learn = (
        "import river_budget as rb; rb.Mnemotron().learn_one({'a': 1.0}, True); print(rb.__file__)"
    )
    package = Path(run(python, "-c", learn, cwd=tmp_path).strip()).parent
    assert package.is_relative_to(tmp_path)
    pip(python, "uninstall", "--yes", "river-budget")
    assert not package.exists()
