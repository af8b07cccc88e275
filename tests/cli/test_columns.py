"""Which columns are numbers, texts, or nothing."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random

import pytest
from commands import answers_of

pytest.importorskip("typer")

import river_budget as rb
from river_budget import checkpoint

LEARN = ["learn", "--target", "label", "--model", "forgetron", "--budget", "20"]

HEADER = ["id", "when", "amount", "age", "country", "shop", "label"]


def orders(n, seed=1):
    """Return orders with missing cells, and texts with commas, quotes and other alphabets."""
    rng = random.Random(seed)
    rows = []
    for t in range(n):
        country = rng.choice(["DE", "FR", "Österreich", None])
        shop = rng.choice(["Smith, Jones & Co", 'the "corner" shop', "x", None])
        amount = None if rng.random() < 0.1 else round(rng.lognormvariate(3, 1), 2)
        age = None if rng.random() < 0.3 else rng.randint(18, 90)
        label = "fraud" if country == "FR" and (amount or 0) > 20 else "ok"
        rows.append([t, f"2026-11-{t % 28 + 1:02}", amount, age, country, shop, label])
    return rows


def as_csv(rows, delimiter=",", missing=""):
    """Return a csv file of Windows: with a byte-order mark, and its line ends."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerows([HEADER, *([missing if c is None else c for c in row] for row in rows)])
    return b"\xef\xbb\xbf" + file.getvalue().encode()


def as_json(rows):
    return "\n".join(json.dumps(dict(zip(HEADER, row, strict=True))) for row in rows).encode()


def predictions(rows):
    model, seen = rb.Forgetron(budget=20), []
    for row in rows:
        x = dict(zip(HEADER[2:-1], row[2:-1], strict=True))
        seen.append(model.predict_one(x))
        model.learn_one(x, row[-1])
    return seen


ROWS = orders(300)


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        as_csv(ROWS), as_csv(ROWS, ";", "NA"), as_csv(ROWS, "\t", "nan"), as_csv(ROWS, "|", "null"),
        gzip.compress(as_csv(ROWS)), as_json(ROWS),
    ],
    ids=["csv", "semicolons", "tabs", "bars", "gzip", "json"],
)  # fmt: skip
@pytest.mark.parametrize(
    "columns", [["--ignore", "id,when"], ["--features", "amount,age,country,shop"]]
)
def test_a_file_as_people_have_it(run, stdin, data, columns):
    stdin(data)
    code, out, err = run(*LEARN, *columns)
    assert code == 0
    expected = 'river-budget: 2 numbers, 2 categories, target "label" with 2 values so far'
    assert err.splitlines()[0] == expected
    assert [answer["prediction"] for answer in answers_of(out)] == predictions(ROWS)


def test_parquet_has_the_same_columns(run, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    import datetime
    import decimal

    from pyarrow import parquet

    columns = dict(zip(HEADER, zip(*ROWS, strict=True), strict=True))
    columns["when"] = [datetime.date.fromisoformat(day) for day in columns["when"]]
    columns["age"] = [None if age is None else decimal.Decimal(age) for age in columns["age"]]
    path = tmp_path / "orders.parquet"
    parquet.write_table(arrow.table({name: list(cells) for name, cells in columns.items()}), path)
    code, out, err = run(LEARN[0], path, *LEARN[1:], "--ignore", "id,when")
    assert (code, "2 numbers, 2 categories" in err) == (0, True)
    assert [answer["prediction"] for answer in answers_of(out)] == predictions(ROWS)
    code, _, err = run(LEARN[0], path, *LEARN[1:])
    assert (code, "'2026-11-01' in column 'when' is a date" in err) == (2, True)


@pytest.mark.parametrize(
    "command", [["compare", "--models", "forgetron"], ["certify", "--budget", "600"], ["lifelong"]]
)
def test_streams_are_read_the_same(run, tmp_path, command):
    path = tmp_path / "orders.csv"
    path.write_bytes(as_csv(orders(60)))
    options = [path, "--target", "label", "--ignore", "id,when"]
    if command == ["lifelong"]:
        options += ["--models", "stoptron", "--cycles", 1, "--learn", 40, "--test", 20]
    code, _, err = run(*command, *options)
    assert code == 0
    assert "2 numbers, 2 categories" in err


def test_keys_are_read_the_same(run, stdin):
    stdin(as_csv([[t % 2, *row[1:]] for t, row in enumerate(ROWS)]))
    options = ["--key", "id", "--ignore", "when", "--model", "forgetron", "--budget", "20"]
    code, out, err = run("keyed", "--target", "label", *options)
    assert code == 0
    assert "2 numbers, 2 categories" in err
    own = [answer["prediction"] for answer in answers_of(out) if answer["key"] == "1"]
    assert own == predictions(ROWS[1::2])


def test_a_model_predicts_what_it_learned_from(run, stdin, tmp_path):
    saved = tmp_path / "model"
    stdin(as_csv(ROWS))
    assert run(*LEARN, "--ignore", "id,when", "--checkpoint", saved)[0] == 0
    stdin(as_csv(ROWS[:50]))
    options = ["--checkpoint", saved, "--target", "label", "--ignore", "id,when"]
    code, out, _ = run("predict", *options)
    assert (code, len(answers_of(out))) == (0, 50)


def test_a_column_that_was_ignored_may_be_a_feature_later(run, stdin, tmp_path):
    saved = tmp_path / "model"
    stdin("id,n,label\n1,2,yes\n2,3,no\n")
    assert run(*LEARN, "--ignore", "id", "--checkpoint", saved)[0] == 0
    stdin("id,n,label\n8,2,new\n")
    code, _, err = run(*LEARN, "--features", "id", "--checkpoint", saved)
    assert (code, "1 number" in err) == (0, True)
    assert "id" in checkpoint.load(saved).support_vectors[-1]


CODES = [f"{'A' if t % 3 else ''}{t % 5},{t},{'yes' if t % 5 else 'no'}\n" for t in range(60)]


@pytest.fixture
def coded(run, tmp_path):
    data, saved = tmp_path / "codes.csv", tmp_path / "model"
    data.write_text("code,n,label\n" + "".join(CODES))
    assert run(*LEARN, data, "--checkpoint", saved)[0] == 0
    return saved


def test_the_columns_of_texts_are_those_that_were_learned(run, stdin, coded):
    stdin("code,n\n3,1\n")
    code, out, err = run("predict", "--checkpoint", coded)
    (answer,) = answers_of(out)
    assert (code, "1 number, 1 category" in err) == (0, True)
    assert answer["margin"] == checkpoint.load(coded).decision_function_one({"code": "3", "n": 1})
    stdin("code,n,late,label\n3,red,5,no\n3,1,x,no\n3,1,x,no\n")
    code, out, _ = run(*LEARN, "--checkpoint", coded, "--on-error", "skip")
    first, *others = answers_of(out)
    assert first == {"error": "'red' in column 'n' is not a number", "line": 2}
    assert [answer["example"] for answer in others] == [61, 62]
    _, extra = checkpoint.restore(coded)
    assert extra["run"]["has_texts"] == {"code": True, "n": False, "late": True}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("1", 1), ("-3", -3), ("+1", 1), ("1.0", 1.0), ("0.5", 0.5), ("1e-05", 1e-05), ("True", True),
        *((text, text) for text in ("01", "1e2", "1_1", "inf", "-Infinity", "\N{ARABIC-INDIC DIGIT ONE}", "1.50", "1e400")),
    ],
)  # fmt: skip
def test_a_label_is_a_number_if_it_is_written_as_one(run, stdin, text, label):
    stdin(f"a,label\n1,{text}\n")
    (answer,) = answers_of(run(*LEARN)[1])
    assert (answer["label"], type(answer["label"])) == (label, type(label))


@pytest.mark.parametrize("text", ["1_0", "\N{ARABIC-INDIC DIGIT ONE}"])
def test_numbers_are_written_in_plain_digits(run, stdin, text):
    stdin(f"a,label\n1,0\n{text},1\n")
    assert f"'{text}' in column 'a' is not a number" in run(*LEARN)[2]
    stdin(f"0 a:1\n1 a:{text}\n")
    assert "line 2: not 'label name:value" in run("learn")[2]


@pytest.mark.parametrize(
    "day",
    ["2026-11-23", "2026-11-23 06:00:00", "2026-11-23T06:00Z", "23.11.2026", "11/23/26", "1/2/2026, 3"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_dates_are_refused(run, stdin, day, form):
    stdin(f'a,d,label\n1,"{day}",0\n' if form == "csv" else f'{{"a":1,"d":"{day}","label":0}}\n')
    code, out, err = run(*LEARN)
    assert (code, out) == (2, "")
    message = f"{day!r} in column 'd' is a date: give --ignore d, or convert it to a number"
    assert message in err


@pytest.mark.parametrize("number", ["1,5", "-0,25", "1.234.567,8"])
def test_decimal_commas_are_refused(run, stdin, number):
    stdin(f"a;b;label\n1;{number};0\n")
    code, out, err = run(*LEARN)
    assert (code, out) == (2, "")
    assert f"{number!r} in column 'b' has a decimal comma: give --decimal ," in err


def test_decimal_commas_are_read_if_that_is_said(run, stdin):
    numbers = [("1,5", "1.5"), ("-0,25", "-0.25"), ("1.234.567,8", "1234567.8"), ("1 234", "1234")]
    numbers += [("7", "7"), ("1,5e-3", "1.5e-3"), ("", "")] * 5
    stdin("a;label\n" + "".join(f"{number};{t % 2}\n" for t, (number, _) in enumerate(numbers)))
    code, out, err = run(*LEARN, "--decimal", ",")
    stdin("a;label\n" + "".join(f"{number};{t % 2}\n" for t, (_, number) in enumerate(numbers)))
    assert (code, out) == run(*LEARN)[:2]
    assert "1 number, 0 categories" in err


def test_a_point_is_no_decimal_mark_beside_commas(run, stdin):
    stdin("a;label\n1,5;0\n2;1\n52.12;1\n")
    code, _, err = run(*LEARN, "--decimal", ",")
    assert (code, "line 4: '52.12' in column 'a' is not a number" in err) == (2, True)
    assert "'x' is neither a point nor a comma" in run(*LEARN, "--decimal", "x")[2]


def test_a_decimal_comma_in_json_is_a_text(run, stdin):
    stdin('{"a":"1,5","label":0}\n')
    assert "'1,5' in column 'a' has a decimal comma: write it as a number" in run(*LEARN)[2]


@pytest.mark.parametrize(
    "text", ["1,x", "1, 2", "1,2,3", "1.2.3", "2026", "12:30", "10-12", "555-1234", "A-2026-11-23"]
)
def test_other_texts_are_no_dates(run, stdin, text):
    stdin(f"a;label\n{text};0\n")
    assert run(*LEARN)[0] == 0


def test_most_of_the_first_cells_tell_what_a_column_is(run, stdin):
    lines = [f"{'?' if t % 3 else t},{t if t % 3 else '?'},{t % 2}\n" for t in range(9)]
    stdin("text,number,label\n" + "".join(lines))
    code, out, err = run(*LEARN, "--on-error", "skip")
    assert code == 0
    assert "1 number, 1 category" in err
    errors = {answer["line"]: answer["error"] for answer in answers_of(out) if "error" in answer}
    assert errors == dict.fromkeys([2, 5, 8], "'?' in column 'number' is not a number")


def test_a_column_that_begins_late_is_what_its_first_cell_is(run, stdin):
    stdin("a,b,label\n,1,0\n,2,1\n" + 1000 * ",1,0\n" + "red,1,0\n7,1,0\n,b,1\n")
    code, out, _ = run(*LEARN, "--on-error", "skip")
    assert (code, [a["line"] for a in answers_of(out) if "error" in a]) == (0, [1006])


def test_columns_that_there_are_not(run, stdin):
    stdin("a,b,label\n1,2,0\n")
    code, _, err = run(*LEARN, "--features", "a,c")
    assert (code, err.count("\n")) == (2, 1)
    assert "no column 'c', only a, b, label" in err
    stdin("a,b,label\n1,2,0\n")
    code, _, err = run(*LEARN, "--ignore", "a,labels")
    assert (code, "river-budget: --ignore: no column 'labels', near: label\n" in err) == (0, True)
    stdin("a,b,label\n1,2,0\n")
    assert "--ignore: no column 'x', only a, b, label\n" in run(*LEARN, "--ignore", "x")[2]
    stdin('{"a":1,"label":0}\n')  # The next line may have it.
    assert "no column" not in run(*LEARN, "--ignore", "x")[2]


def test_blanks_around_names_mean_nothing(run, stdin):
    stdin("id , a, the time ,label\n1,2,2026-11-23,0\n")
    code, _, err = run(*LEARN, "--ignore", "id, the time")
    assert (code, "1 number, 0 categories" in err, "no column" in err) == (0, True, False)


@pytest.mark.parametrize("command", ["learn", "predict", "compare", "keyed", "certify", "lifelong"])
def test_help_and_summaries_fit_a_terminal(run, stdin, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(command, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    stdin(as_csv(ROWS))
    _, _, err = run(*LEARN, "--ignore", "id,when")
    assert max(map(len, err.splitlines())) <= 80
