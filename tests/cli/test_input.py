from __future__ import annotations

import gzip
import io
import sys
import zipfile

import pytest
from commands import CSV, answers_of

pytest.importorskip("typer")

import river_budget
from river_budget.cli import files

OPTIONS = ["--target", "y", "--model", "stoptron", "--budget", "5"]


@pytest.fixture
def expected(run, stdin):
    stdin(CSV)
    return run("learn", *OPTIONS)[1]


def test_compressed_input(run, stdin, tmp_path, expected):
    data = gzip.compress(CSV.encode())
    stdin(data)
    assert run("learn", *OPTIONS)[:2] == (0, expected)
    path = tmp_path / "data.bin"
    path.write_bytes(data)
    assert run("learn", path, *OPTIONS)[:2] == (0, expected)


class Pipe(io.BytesIO):
    def seekable(self):
        return False


def test_other_archives_are_not_read_as_text(run, tmp_path):
    path = tmp_path / "data"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.csv", CSV)
    code, out, err = run("learn", path, *OPTIONS)
    assert (code, out) == (2, "")
    assert "packed, but not by gzip" in err


def test_a_pipe_is_unpacked(run, monkeypatch, expected):
    for data in (gzip.compress(CSV.encode()), CSV.encode()):
        buffer = io.BufferedReader(Pipe(data))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(buffer))
        assert run("learn", *OPTIONS)[:2] == (0, expected)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(CSV.encode())[:60], "Compressed file ended"),
        (gzip.compress(CSV.encode())[:15] + 40 * b"?", "while decompressing"),
    ],
    ids=["cut off", "damaged"],
)
def test_what_cannot_be_unpacked(run, stdin, data, message):
    stdin(data)
    code, _, err = run("learn", *OPTIONS)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("river-budget: standard input: ")
    assert message in err


def test_other_delimiters(run, stdin, expected):
    for delimiter, character in [(";", ";"), ("\\t", "\t"), ("tab", "\t"), ("|", "|")]:
        stdin(CSV.replace(",", character))
        assert run("learn", *OPTIONS, "--delimiter", delimiter)[:2] == (0, expected)
    for delimiter in ("", ";;", '"', "\n"):
        code, _, err = run("learn", *OPTIONS, "--delimiter", delimiter)
        assert (code, err.count("\n")) == (2, 1)
        assert "--delimiter" in err


def test_utf_16_is_named(run, stdin):
    stdin(CSV.encode("utf-16"))
    code, out, err = run("learn", *OPTIONS)
    error = "this is UTF-16: convert it, or give learn --encoding utf-16"
    assert (code, out, err) == (2, "", f"river-budget: standard input: {error}\n")


def test_other_encodings(run, stdin):
    text = "größe,y\n1,früh\n2,spät\n"
    for encoding in ("utf-8", "latin-1", "utf-16"):
        stdin(text.encode(encoding))
        _, out, _ = run("learn", *OPTIONS, "--encoding", encoding)
        assert [answer["label"] for answer in answers_of(out)] == ["früh", "spät"]
    stdin(b"\xef\xbb\xbf" + b"y,u\n0,1\n1,2\n")
    _, out, err = run("learn", *OPTIONS)
    assert [answer["label"] for answer in answers_of(out)] == [0, 1]
    assert "no column" not in err
    for encoding, message in [("klingon", "unknown encoding"), ("rot13", "not a text encoding")]:
        stdin(CSV)
        code, _, err = run("learn", *OPTIONS, "--encoding", encoding)
        assert (code, err.count("\n")) == (2, 1)
        assert message in err


def test_only_what_is_wrong_with_a_file_is_blamed_on_it(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text(CSV)
    with pytest.raises(KeyError), files.opened(str(path), files.Columns("y")):
        raise KeyError("a defect of the program")


def test_keyed_reads_the_same(run, stdin):
    stdin(gzip.compress("key;größe;y\na;1;0\nb;2;1\n".encode("latin-1")))
    options = ["--delimiter", ";", "--encoding", "latin-1", "--model", "stoptron"]
    code, out, _ = run("keyed", *options)
    assert code == 0
    assert [answer["key"] for answer in answers_of(out)] == ["a", "b"]


def test_parquet(run, stdin, tmp_path, expected):
    arrow = pytest.importorskip(
        "pyarrow", reason="pyarrow is not installed: parquet input was not tested"
    )
    from pyarrow import parquet

    _, *lines = CSV.splitlines()
    u, v, y = zip(*(line.split(",") for line in lines), strict=True)
    table = arrow.table({"u": list(map(int, u)), "v": list(map(float, v)), "y": list(y)})
    path = tmp_path / "some.parquet"
    parquet.write_table(table, path)
    assert run("learn", path, *OPTIONS)[:2] == (0, expected)
    stdin(path.read_bytes())
    assert run("learn", *OPTIONS)[:2] == (0, expected)
    code, out, _ = run("compare", path, "--target", "y", "--models", "stoptron")
    assert (code, "60 examples" in out) == (0, True)


def test_parquet_without_rows(run, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "some.parquet"
    parquet.write_table(arrow.table({"u": arrow.array([], arrow.float64())}), path)
    for command in (["learn", path], ["keyed", path], ["compare", path]):
        code, out, err = run(*command, "--target", "y")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "some.parquet" in err
        assert "the table has no rows" in err


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ("uvy", ["--target", "z"], "no column 'z', only u, v, y"),
        ("uvy", ["--target", "y", "--features", "u,w"], "no column 'w', only u, v, y"),
        ("uuy", ["--target", "y"], "the header has the column 'u' twice"),
    ],
)
def test_the_columns_of_parquet_are_known(run, tmp_path, names, options, message):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "some.parquet"
    parquet.write_table(arrow.table([[1], [2], [0]], names=list(names)), path)
    code, out, err = run("learn", path, *options)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"river-budget: {path}: {message}"


@pytest.mark.parametrize(
    "text",
    [
        '{"u":1,"y":0}\n\n{"u":1,"y":1}\r\n\r\n', "0 u:1\n\n1 u:1\n\n",
        "0 u:1 # one\n# two\n1 u:1\n # three\n", "# zero\n0 u:1#one\n1 u:1\n",
    ],
)  # fmt: skip
def test_a_blank_line_is_none(run, stdin, text):
    stdin(text)
    code, out, _ = run("learn", *(OPTIONS if "{" in text else OPTIONS[2:]))
    assert (code, [answer["label"] for answer in answers_of(out)]) == (0, [0, 1])


def test_a_checkpoint_that_cannot_be_written_is_refused_at_once(run, stdin, tmp_path):
    for path, message in [
        (tmp_path, "is not a regular file"),
        (tmp_path / "absent/model", "No such file"),
    ]:
        stdin(CSV)
        code, out, err = run("learn", *OPTIONS, "--checkpoint", path)
        assert (code, out, message in err.splitlines()[-1]) == (2, "", True)


def test_parquet_needs_pyarrow(run, stdin, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    stdin(b"PAR1 and so on")
    code, _, err = run("learn", *OPTIONS)
    assert (code, err.count("\n")) == (2, 1)
    assert err.endswith(": pip install pyarrow\n")


def test_the_version(run):
    assert run("--version") == (0, f"river-budget {river_budget.__version__}\n", "")


def test_a_summary_at_the_end(run, stdin):
    stdin(CSV)
    _, out, err = run("learn", *OPTIONS)
    accuracy = answers_of(out)[-1]["accuracy"]
    first, last, *_ = err.splitlines()
    assert first == 'river-budget: 2 numbers, 0 categories, target "y" with 2 values so far'
    assert last.startswith(f"river-budget: 60 lines, accuracy {accuracy:.4f}, ")
    assert "bytes" in err
    assert "µs a line" in err


def test_keyed_has_a_summary(run, stdin):
    stdin("key,t,u,y\na,0,1,0\nb,0,1,1\na,1,1,\na,1,,0\n")
    _, _, err = run("keyed", "--model", "stoptron", "--seq", "t")
    assert err.splitlines()[1].startswith("river-budget: 4 lines, 2 keys, ")


def test_a_model_that_is_too_large_for_its_key_is_named(run, stdin):
    stdin(f'{{"key":"a","u":1,"y":"{10**6 * "x"}"}}\n{{"key":"b","u":1,"y":0}}\n')
    _, _, err = run("keyed", "--model", "stoptron")
    assert "\nriver-budget: the model of 'a' is dropped: " in err
    assert " 2 keys, " in err


def test_a_command_can_be_quiet(run, stdin, tmp_path):
    options = ["--quiet", "--model", "stoptron"]
    for command in (["learn", "--target", "y", "--checkpoint", tmp_path / "model"], ["keyed"]):
        for _ in range(2):
            stdin("key,u,y\n1,1,0\n2,2,1\n")
            code, out, err = run(*command, *options)
            assert (code, err) == (0, "")
    stdin("key,u\n1,1\n")
    code, out, err = run("predict", "--checkpoint", tmp_path / "model", "--quiet")
    assert (code, err, len(answers_of(out))) == (0, "", 1)
    stdin("key,u,y\n1,inf,0\n")
    assert "inf" in run("learn", "--target", "y", *options)[2]
