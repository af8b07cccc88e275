from __future__ import annotations

import bz2
import functools
import gzip
import http.server
import io
import itertools
import tarfile
import threading
import zipfile

import numpy as np
import pytest

from river_budget import datasets
from river_budget.datasets import CHECKSUMS, PublishedDataset

PUBLISHED_CHECKSUMS = dict(CHECKSUMS)
TABLE = {data_set.__name__: data_set for data_set in PublishedDataset.__subclasses__()}


class Publisher(http.server.ThreadingHTTPServer):
    """A server of small files that can break off its responses."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents: dict[str, bytes] = {}
        self.requests: list[str] = []
        # How many bytes each of the next responses sends; all of them if there is no number.
        self.cuts: list[int] = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        name = self.path.rpartition("/")[-1]
        server.requests.append(name)
        content = server.contents.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: server.cuts.pop(0)] if server.cuts else content)

    def log_message(self, *args):
        pass


@pytest.fixture
def publisher():
    """Return a server on this machine."""
    with Publisher() as server:
        threading.Thread(target=functools.partial(server.serve_forever, 0.01), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def publish(publisher, monkeypatch, tmp_path):
    """Return a function that replaces published files by small ones with the given rows."""
    monkeypatch.setenv("RIVER_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in PUBLISHED_CHECKSUMS:
        monkeypatch.delitem(CHECKSUMS, name)

    def publish(data_set, content, **rows):
        for part, n in rows.items():
            file = TABLE[data_set].files[part]
            name = file.url.rpartition("/")[-1]
            publisher.contents[name] = content
            rows = n if isinstance(n, range) else range(n)
            moved = file._replace(url=f"{publisher.url}/data/{name}", rows=rows)
            monkeypatch.setitem(TABLE[data_set].files, part, moved)

    return publish


def zipped(**files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        for name, content in files.items():
            target.writestr(name, content)
    return archive.getvalue()


def tarred(**files):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as target:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            target.addfile(info, io.BytesIO(content))
    return archive.getvalue()


def files(directory):
    return sorted(path.name for path in directory.iterdir())


A9A = b"-1 3:1 11:1 14:1 \n+1 1:1 123:1 \n-1 2:1 \n"
ADULT = [
    ({"3": 1.0, "11": 1.0, "14": 1.0}, False),
    ({"1": 1.0, "123": 1.0}, True),
    ({"2": 1.0}, False),
]
DIGITS = bz2.compress(b"5 153:3 154:18\n3 124:254\n8 155:253\n0 100:7\n3 1:1\n")


@pytest.fixture
def adult(publish):
    publish("Adult9", A9A, train=3)


def test_adult(adult):
    assert list(datasets.Adult9()) == ADULT


def test_ijcnn1(publish):
    publish("IJCNN1", bz2.compress(b"-1 5:1 11:-0.731854\n1 10:1  12:0.17\n"), test=2)
    examples = list(datasets.IJCNN1("test"))
    assert examples == [({"5": 1.0, "11": -0.731854}, False), ({"10": 1.0, "12": 0.17}, True)]


@pytest.mark.parametrize(
    ("options", "labels"), [({}, [0, 0, 1]), ({"positive": (1, 3)}, [1, 0, 1])]
)
def test_vehicle_has_three_classes(publish, options, labels):
    publish("SensITVehicle", bz2.compress(b"1 1:-2.9e-02\n2 100:1.5\n3 1:-.5 2:1\n"), train=3)
    examples = list(datasets.SensITVehicle(**options))
    assert [y for _, y in examples] == labels
    assert examples[0][0] == {"1": -0.029}


def test_covertype(publish):
    row = ",".join(["2596", "51", *["0"] * 51, "1"])
    text = f"{row},5\n{row},2\n".encode()
    publish("Covertype", zipped(**{"covtype.data.gz": gzip.compress(text)}), all=2)
    examples = list(datasets.Covertype())
    assert [y for _, y in examples] == [False, True]
    x = examples[0][0]
    assert len(x) == 54
    assert (x["Elevation"], x["Aspect"], x["Soil_Type_39"], x["Soil_Type_40"]) == (2596, 51, 0, 1)


def test_letter_has_both_parts_in_one_file(publish, publisher):
    numbers = ",".join(map(str, range(16)))
    text = "".join(f"{name},{numbers}\n" for name in "MNZ")
    content = zipped(**{"letter-recognition.data": text})
    publish("Letter", content, train=range(2), test=range(2, 3))
    train, test = datasets.Letter(), datasets.Letter("test")
    assert (train.n_samples, test.n_samples) == (2, 1)
    assert [y for _, y in train] == [False, True]
    ((x, y),) = test
    assert y is True
    assert (x["x-box"], x["yegvx"]) == (0, 15)
    assert len(publisher.requests) == 1


def test_digits_in_neither_group_are_left_out(publish):
    publish("MNIST", DIGITS, train=5)
    assert list(datasets.MNIST()) == [
        ({"124": 254.0}, False), ({"155": 253.0}, True), ({"1": 1.0}, False),
    ]  # fmt: skip
    halves = datasets.MNIST(positive=range(5), negative=range(5, 10))
    assert [y for _, y in halves] == [False, True, False, True, True]


def test_pendigits(publish):
    row = ", ".join(f"{n:2}" for n in range(16))
    content = zipped(
        **{
            "pendigits.tra": "".join(f" {row}, {digit}\n" for digit in range(10)),
            "pendigits.tes": f" {row}, 8\r\n",
            "pendigits.names": "",
        }
    )
    publish("Pendigits", content, train=10, test=1)
    examples = list(datasets.Pendigits())
    assert [digit for digit, (_, y) in enumerate(examples) if y] == [0, 3, 6, 8, 9]
    x = examples[0][0]
    assert list(x.values()) == list(range(16))
    assert (x["x1"], x["y1"], x["x8"], x["y8"]) == (0, 1, 14, 15)
    assert list(datasets.Pendigits("test")) == [(x, True)]


def test_the_classes_of_usps_are_digits_plus_one(publish):
    text = "".join(f"{digit + 1} 1:-1 256:0.5\n" for digit in range(10))
    publish("USPS", bz2.compress(text.encode()), train=10)
    examples = list(datasets.USPS())
    assert [digit for digit, (_, y) in enumerate(examples) if y] == [0, 3, 6, 8, 9]
    assert examples[0][0] == {"1": -1.0, "256": 0.5}


POOR = (
    "73, Not in universe, 0, 0, High school graduate, 0, Not in universe, Widowed, "
    "Not in universe or children, Not in universe, White, All other, Female, Not in universe, "
    "Not in universe, Not in labor force, 0, 0, 0, Nonfiler, Not in universe, Not in universe, "
    "Other Rel 18+ ever marr not in subfamily, Other relative of householder, 1700.09, ?, ?, ?, "
    "Not in universe under 1 year old, ?, 0, Not in universe, United-States, United-States, "
    "United-States, Native- Born in the United States, 0, Not in universe, 2, 0, 95, - 50000.\n"
)
RICH = POOR.replace("73,", "48,").replace("- 50000.", "50000+.")


def test_census_income(publish):
    inner = tarred(
        **{"census-income.data": (POOR + RICH).encode(), "census-income.test": RICH.encode()}
    )
    publish("CensusIncome", zipped(**{"census.tar.gz": inner}), train=2, test=1)
    (x, y), (z, rich) = datasets.CensusIncome()
    assert (y, rich) == (False, True)
    assert len(x) == 40
    assert (x["age"], z["age"]) == (73.0, 48.0)
    assert x["education=High school graduate"] == x["year=95"] == 1.0
    assert x["country of birth self=United-States"] == x["migration code-change in msa=?"] == 1.0
    assert x["weeks worked in year"] == 0.0
    assert not any("weight" in name for name in x)
    assert list(datasets.CensusIncome("test")) == [(z, True)]


def test_a_cached_file_is_not_downloaded_again(adult, publisher, tmp_path, capsys):
    data_set = datasets.Adult9()
    assert not data_set.is_downloaded
    assert list(data_set) == ADULT
    assert list(data_set) == list(datasets.Adult9()) == ADULT
    assert data_set.is_downloaded
    assert publisher.requests == ["a9a"]
    assert files(tmp_path / "Adult9") == ["a9a"]
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"Downloading {publisher.url}/data/a9a\n"


def test_only_the_text_of_an_archive_is_kept(publish, tmp_path):
    publish("MNIST", DIGITS, train=5)
    datasets.MNIST().download()
    assert files(tmp_path / "MNIST") == ["mnist"]


def test_a_download_can_be_silent(publish, capsys):
    publish("MNIST", DIGITS, train=5)
    datasets.MNIST().download(verbose=False)
    assert capsys.readouterr() == ("", "")


def test_a_download_can_be_forced(adult, publisher):
    data_set = datasets.Adult9()
    data_set.download()
    data_set.download(force=True)
    assert publisher.requests == ["a9a", "a9a"]
    assert list(data_set) == ADULT


def test_a_forced_download_that_fails_leaves_the_cached_file(adult, publisher):
    data_set = datasets.Adult9()
    data_set.download()
    publisher.cuts = [20]
    with pytest.raises(datasets.DatasetError, match="20 bytes read"):
        data_set.download(force=True)
    assert list(data_set) == ADULT


def test_a_connection_that_breaks(publish, publisher, tmp_path):
    publish("MNIST", DIGITS, train=5)
    publisher.cuts = [20]
    with pytest.raises(datasets.DatasetError, match=r"MNIST: .*20 bytes read"):
        list(datasets.MNIST())
    assert not datasets.MNIST().is_downloaded


BROKEN = {
    "HTTP Error 404: Not Found": None,
    "Compressed data ended": DIGITS[:-10],
    "Invalid data stream": b"<html>Please log in</html>",
    "mnist has 1 rows, expected 5": bz2.compress(b"5 153:3\n"),
}


@pytest.mark.parametrize("message", BROKEN)
def test_an_error_states_the_reason_and_the_remedy(publish, publisher, tmp_path, message):
    publish("MNIST", BROKEN[message], train=5)
    with pytest.raises(datasets.DatasetError, match=f"MNIST: {message}") as caught:
        list(datasets.MNIST())
    assert str(caught.value).endswith(
        "\nTry download(force=True), or put mnist by hand, "
        f"from {publisher.url}/data/mnist.bz2, into {tmp_path / 'MNIST'}"
    )
    assert not datasets.MNIST().is_downloaded
    publisher.contents["mnist.bz2"] = DIGITS
    assert len(list(datasets.MNIST())) == 3


def test_a_server_that_is_down(adult, publisher, tmp_path):
    publisher.shutdown()
    publisher.server_close()
    with pytest.raises(datasets.DatasetError, match=r"Adult9: .*refused"):
        list(datasets.Adult9())
    assert not datasets.Adult9().is_downloaded


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no zip", "File is not a zip file"),
        (zipped(other=b""), "no item named 'census.tar.gz'"),
        (zipped(**{"census.tar.gz": b"no tar"}), "file could not be opened"),
        (zipped(**{"census.tar.gz": tarred(other=b"")}), "'census-income.data' not found"),
    ],
)
def test_archives_with_the_wrong_content(publish, tmp_path, content, message):
    publish("CensusIncome", content, train=2)
    with pytest.raises(datasets.DatasetError, match=message):
        list(datasets.CensusIncome())
    assert not datasets.CensusIncome().is_downloaded


def test_a_download_with_a_wrong_checksum(publish, monkeypatch, tmp_path):
    publish("MNIST", DIGITS, train=5)
    monkeypatch.setitem(CHECKSUMS, "mnist.bz2", f"md5:{'0' * 32}")
    with pytest.raises(
        datasets.DatasetError, match=r"mnist.bz2 has the md5 checksum .*, expected 0"
    ):
        list(datasets.MNIST())
    assert not datasets.MNIST().is_downloaded


def test_a_text_with_a_wrong_checksum(publish, monkeypatch, tmp_path):
    publish("MNIST", DIGITS, train=5)
    monkeypatch.setitem(CHECKSUMS, "mnist", f"sha256:{'0' * 64}")
    with pytest.raises(
        datasets.DatasetError, match=r"mnist has the sha256 checksum .*, expected 0"
    ):
        list(datasets.MNIST())
    assert not datasets.MNIST().is_downloaded


def test_a_text_can_be_put_there_by_hand(publish, publisher, tmp_path):
    publish("MNIST", None, train=5)
    (tmp_path / "MNIST").mkdir()
    (tmp_path / "MNIST" / "mnist").write_bytes(bz2.decompress(DIGITS))
    assert len(list(datasets.MNIST())) == 3
    assert publisher.requests == []


@pytest.mark.parametrize("row", [16 * "1," + "8,9", 15 * "1," + "1"], ids=["long", "short"])
def test_a_row_of_another_length_is_no_example(monkeypatch, tmp_path, row):
    monkeypatch.setenv("RIVER_DATA", str(tmp_path))
    data_set = datasets.Pendigits()
    data_set.path.parent.mkdir()
    data_set.path.write_text(f"{row}\n")
    with pytest.raises(ValueError, match="more or fewer columns"):
        list(data_set)


def test_river_decides_where_files_are(monkeypatch, tmp_path):
    monkeypatch.setenv("RIVER_DATA", str(tmp_path / "here"))
    assert datasets.USPS("test").path == tmp_path / "here" / "USPS" / "usps.t"
    monkeypatch.delenv("RIVER_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert datasets.Adult9().path == tmp_path / "river_data" / "Adult9" / "a9a"


ALL = {
    datasets.Adult9: (32_561, 16_281),
    datasets.SensITVehicle: (78_823, 19_705),
    datasets.IJCNN1: (49_990, 91_701),
    datasets.Letter: (16_000, 4_000),
    datasets.MNIST: (None, None),
    datasets.Pendigits: (7_494, 3_498),
    datasets.USPS: (7_291, 2_007),
    datasets.CensusIncome: (199_523, 99_762),
}


@pytest.mark.parametrize("data_set", ALL, ids=lambda data_set: data_set.__name__)
def test_parts(data_set):
    assert tuple(data_set(part=part).n_samples for part in ("train", "test")) == ALL[data_set]
    with pytest.raises(ValueError, match="part must be 'train' or 'test', got 'all'"):
        data_set(part="all")


def test_every_published_file_has_a_secure_address():
    assert set(TABLE) == {data_set.__name__ for data_set in [*ALL, datasets.Covertype]}
    urls = {file.url for row in TABLE.values() for file in row.files.values()}
    assert all(url.startswith("https://") for url in urls)


def test_every_checksum_is_of_a_published_file():
    published = [data_set(part) for data_set in TABLE.values() for part in data_set.files]
    assert set(CHECKSUMS) <= {name for data_set in published for name in data_set._names}


def test_repr(monkeypatch, tmp_path):
    monkeypatch.setenv("RIVER_DATA", str(tmp_path))
    shown = repr(datasets.Adult9())
    for text in ["Adult9", "Binary classification", "32,561", "binary/a9a", "Downloaded  False"]:
        assert text in shown


@pytest.mark.parametrize(
    ("positive", "negative"),
    [((), (3,)), ((3,), ()), ((1, 2), (2, 3)), ((10,), (3,)), (("8",), (3,)), ((3,), None)],
)
def test_invalid_groups_of_digits(positive, negative):
    with pytest.raises(ValueError, match="positive and negative must be different classes"):
        datasets.MNIST(positive=positive, negative=negative)


@pytest.mark.parametrize("positive", [(), (1, 2, 3), (4,)])
def test_invalid_groups_of_vehicle_classes(positive):
    with pytest.raises(ValueError, match="positive and negative must be different classes"):
        datasets.SensITVehicle(positive=positive)


def test_even_splits_of_ten_digits():
    for positive in itertools.combinations(range(10), 5):
        negative = set(range(10)) - set(positive)
        assert datasets.MNIST(positive=positive, negative=negative).n_samples == 60_000


@pytest.mark.slow
def test_the_true_adult_has_the_published_checksum(publish, monkeypatch, shared):
    """The publisher's text is regenerated from its values."""
    arrays = shared("data/adult_a9a.npz")
    for part, name in [("train", "a9a"), ("test", "a9a.t")]:
        X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
        text = "".join(
            f"{label:+d} {''.join(f'{j + 1}:1 ' for j in np.flatnonzero(row))}\n"
            for row, label in zip(X, y, strict=True)
        )
        publish("Adult9", text.encode(), **{part: len(X)})
        monkeypatch.setitem(CHECKSUMS, name, PUBLISHED_CHECKSUMS[name])
        examples = list(datasets.Adult9(part))
        assert [label for _, label in examples] == (y > 0).tolist()
        assert [len(x) == 14 for x, _ in examples] == arrays[f"complete_{part}"].tolist()


def test_the_true_pendigits_have_the_published_checksums(publish, monkeypatch, shared):
    """The publisher's texts are regenerated from their values."""
    arrays = shared("data/pendigits.npz")
    texts = {}
    for part, name in [("train", "pendigits.tra"), ("test", "pendigits.tes")]:
        rows = zip(arrays[f"X_{part}"].astype(int), arrays[f"y_{part}"], strict=True)
        texts[name] = "".join(
            f"{','.join(f'{value:3}' for value in row)}, {label}\n" for row, label in rows
        )
        monkeypatch.setitem(CHECKSUMS, name, PUBLISHED_CHECKSUMS[name])
    publish("Pendigits", zipped(**texts), train=7_494, test=3_498)
    for part in ["train", "test"]:
        examples = list(datasets.Pendigits(part))
        X = np.array([list(x.values()) for x, _ in examples])
        np.testing.assert_array_equal(X, arrays[f"X_{part}"])
        labels = np.isin(arrays[f"y_{part}"], [3, 6, 8, 9, 0])
        assert [y for _, y in examples] == labels.tolist()
