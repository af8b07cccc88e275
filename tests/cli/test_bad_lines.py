from __future__ import annotations

import pytest
from commands import answers_of

pytest.importorskip("typer")

SKIP = ["--on-error", "skip", "--model", "stoptron"]


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ("a,y\n1,0\nred,1\n2,1\n1,2\n3,0\n", {3: "'red' in column 'a'"}),
        ("a,y\n1,0\n1,1,1\n1\n3,0\n", {3: "this line has more", 4: "this line has more"}),
        (f'a,y\n1,0\n"{200_000 * "x"}",1\n3,0\n', {3: "field larger than field limit"}),
        ('{"a":1,"y":0}\n{"a"\n[]\n{"a":2,"y":1}\n', {2: "not JSON", 3: "not a JSON object"}),
        ('{"a":1,"y":0}\n{"a":Infinity,"y":0}\n', {2: "has the value inf"}),
        ('{"a":1,"y":0}\n{"a":[1,null],"y":0}\n', {2: "has the value [1, None]"}),
        ('{"a":1,"y":0}\n{"a":1,"y":[0]}\n{"a":1,"y":1}\n', {2: "the label is [0]"}),
        (
            '{"a":1,"y":0}\n{"a":1,"y":1e400}\n{"a":1,"y":-Infinity}\n',
            {2: "the label is inf: expected a class", 3: "the label is -inf: expected a class"},
        ),
        (f'{{"a":1,"y":0}}\n{{"a":1,"y":1{305 * "0"}}}\n', {2: "cannot be stored"}),
        (b"a,y\n1,0\n\xff,0\n3,1\n", {3: r"'\\xff' in column 'a' is not a number"}),
    ],
)
def test_a_bad_line_is_answered_and_the_others_are_learned(run, stdin, text, bad):
    stdin(text)
    code, out, err = run("learn", "--target", "y", *SKIP)
    answers = answers_of(out)
    errors = {answer["line"]: answer["error"] for answer in answers if "error" in answer}
    assert code == 0
    assert errors.keys() == bad.keys()
    assert all(bad[line] in errors[line] for line in bad)
    good = [answer["example"] for answer in answers if "error" not in answer]
    assert good == list(range(1, len(good) + 1))
    assert f"{len(bad)} skipped" in err


def test_an_infinite_label_spoils_no_key(run, stdin):
    stdin('{"key":"k","a":1,"y":Infinity}\n{"key":"k","a":1,"y":0}\n{"key":"k","a":1}\n')
    _, out, _ = run("keyed", *SKIP)
    assert [answer.get("line") for answer in answers_of(out)] == [1, None, None]


def test_values_that_are_too_large_are_bad_lines(run, stdin):
    stdin("a,y\n1,0\n2,1\n" + 3 * "1e200,1\n" + "inf,1\n2,1\n1,0\n")
    code, out, _ = run("learn", "--target", "y", *SKIP)
    answers = answers_of(out)
    assert code == 0
    assert [answer.get("line") for answer in answers] == [None, None, 4, 5, 6, 7, None, None]
    assert answers[-1]["example"] == 4


def test_a_bad_line_of_libsvm(run, stdin):
    stdin("0 a:1\n1 a:x\n1\n1 a:2 a:2\n1 a:2\n")
    code, out, err = run("learn", *SKIP)
    assert code == 0
    assert [answer.get("line") for answer in answers_of(out)] == [None, 2, None, 4, None]
    assert "2 skipped" in err


def test_a_bad_line_of_one_key_does_not_stop_the_others(run, stdin):
    stdin(
        "key,t,u,y\nann,0,1,0\nann,1,red,1\nbob,0,1,0\n,0,1,0\nann,1.5,1,0\nann,2,1,2\nann,3,,3\n"
        "bob,1,1,1\nann,4,,1\n"
    )
    code, out, err = run("keyed", "--seq", "t", *SKIP)
    answers = answers_of(out)
    assert code == 0
    assert [(a.get("key"), a.get("line")) for a in answers] == [
        ("ann", None), (None, 3), ("bob", None), (None, 5), (None, 6), ("ann", None), (None, 8),
        ("bob", None), (None, 10),
    ]  # fmt: skip
    assert "5 skipped" in err
    assert "2 keys" in err


def test_the_first_bad_line_stops_by_default(run, stdin):
    for command in (["learn", "--target", "y"], ["keyed"]):
        stdin("key,a,y\n1,1,0\n1,red,1\n1,2,1\n")
        code, out, err = run(*command, "--model", "stoptron")
        assert (code, len(answers_of(out))) == (2, 1)
        assert err.splitlines()[-1] == (
            "river-budget: standard input: line 3: 'red' in column 'a' is not a number"
        )


def test_there_are_two_ways_to_meet_a_bad_line(run):
    code, _, err = run("learn", "--target", "y", "--on-error", "panic")
    assert code == 2
    assert "on-error" in err


def test_numbers_that_are_times_need_a_larger_jump(run, stdin):
    text = "key,t,a,y\nann,1763740800,1,yes\nann,1763740801,2,no\n"
    stdin(text)
    code, out, err = run("keyed", "--seq", "t")
    assert (code, out) == (2, "")
    assert "line 2" in err
    stdin(text)
    code, out, _ = run("keyed", "--seq", "t", "--max-jump", 10**10)
    assert code == 0
    assert [answer["seq"] for answer in answers_of(out)] == [1763740800, 1763740801]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["learn", "--target", "y"], "a,y\ninf,1\n1e200,0\n"),
        (["keyed"], "key,a,y\n,1,1\n1,inf,0\n"),
    ],
)
def test_it_is_an_error_if_every_line_is_skipped(run, stdin, command, text):
    stdin(text)
    code, out, err = run(*command, *SKIP)
    assert code == 2
    assert [answer["line"] for answer in answers_of(out)] == [2, 3]
    assert err.splitlines()[-1] == "river-budget: standard input: every line was skipped"
