"""The public data sets of the papers, downloaded from their publishers on first use.

Unless a class names another paper, its parts and positive classes are those of the
[Tightest paper](https://doi.org/10.1109/IJCNN.2009.5178870). The other papers are those of the
[Forgetron](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)
and of the [Projectron](https://doi.org/10.1145/1390156.1390247).

>>> from river_budget import datasets
>>> datasets.Adult9().n_samples, datasets.Adult9("test").n_samples
(32561, 16281)
>>> datasets.MNIST(positive=range(5, 10), negative=range(5)).n_samples
60000
"""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import io
import itertools
import string
import sys
import tarfile
import tempfile
import urllib.request
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple, cast
from zipfile import ZipFile

from river.datasets.base import BINARY_CLF, RemoteDataset

from river_budget._state import require

__all__ = [
    "IJCNN1", "MNIST", "USPS", "Adult9", "CensusIncome", "Covertype", "DatasetError", "Letter",
    "Pendigits", "PublishedDataset", "SensITVehicle",
]  # fmt: skip

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
UCI = "https://archive.ics.uci.edu/static/public"
CENSUS = f"{UCI}/117/census+income+kdd.zip"
LETTER = f"{UCI}/59/letter+recognition.zip"
PENDIGITS = f"{UCI}/81/pen+based+recognition+of+handwritten+digits.zip"

# Checksums of downloads, and of the files unpacked from them, by name. Each is certain: either at least
# two projects without common code state it, or the text was regenerated from its values.
CHECKSUMS = {
    "a9a": "sha256:f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    "a9a.t": "sha256:1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
    "covtype.data.gz": "sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    "ijcnn1.t.bz2": "md5:66433ab8089acee9e56dc61ac89a2fe2",
    "letter-recognition.data": "sha256:2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
    "mnist": "sha256:c42b75fcb54dda11d97af9bd6e3950b41c93b4f44eeb9608aa115f79a5979e88",
    "mnist.t": "sha256:31ffc3cfb1824d0994d57172bb8ca68882e578859e1ee1bd9fc1f2f15bfd06a2",
    "pendigits.tra": "sha256:e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
    "pendigits.tes": "sha256:8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
    "usps.bz2": "md5:ec16c51db3855ca6c91edd34d0e9b197",
    "usps.t.bz2": "md5:8ea070ee2aca1ac39742fdd1ef5ed118",
}

# A download fails after this many seconds without a byte from the server.
TIMEOUT = 60

# Some of the classes of a data set.
Group = Collection[Any]


class DatasetError(OSError):
    """A data set is not available. The message says why, and what to do."""


class File(NamedTuple):
    """Where to find a part of a data set: a published text with one example in each line."""

    url: str  # The address of the text, or of an archive that contains it.
    rows: range  # The lines of the text that are the part.
    members: tuple[str, ...] = ()  # What to unpack, one inside the other; the last one is the text.


def _libsvm(folder: str, name: str, ending: str, train: int, test: int) -> dict[str, File]:
    """Return LIBSVM's two files of a data set. Unpacked, they lose the ending of their names."""
    return {
        part: File(f"{LIBSVM}/{folder}/{text}{ending}", range(n_rows), (text,) if ending else ())
        for part, text, n_rows in [("train", name, train), ("test", f"{name}.t", test)]
    }


class PublishedDataset(RemoteDataset):
    """The base class of the data sets, all of which have its parameters.

    On first use, a text in LIBSVM's format or CSV is downloaded and unpacked. Its number of rows is
    checked, and its checksum if one is known for certain. Then it is moved into River's cache
    directory (`$RIVER_DATA`, or `~/river_data`).

    Parameters
    ----------
    part
        "train" by default, or "test"; `Covertype` has one part, "all".
    positive, negative
        The classes of each of the two labels, as the text has them. The default for `positive` is that
        of the paper, and for `negative` all other classes. Rows of other classes are left out.

    Raises
    ------
    ValueError
        If there is no such part, or if a label has no classes, unknown ones, or one of the other label.
    """

    files: ClassVar[dict[str, File]]  # by part
    n_features: int
    # The names of the columns of a CSV file. One is "class". Columns that end with "=" are one-hot encoded,
    # and those without a name are left out. In LIBSVM's format, there is no header.
    header: ClassVar[str] = ""
    classes: Group
    positive: Group
    negative: Group = ()  # Empty for all classes that are not positive.

    def __init__(
        self, part: str | None = None, positive: Group | None = None, negative: Group | None = None
    ):
        self.part = part or next(iter(self.files))
        parts = " or ".join(map(repr, self.files))
        require(self.part in self.files, f"part must be {parts}, got {part!r}")

        self.positive = set(self.positive if positive is None else positive)
        others = self.negative or set(self.classes) - self.positive
        self.negative = set(others if negative is None else negative)
        groups = self.positive, self.negative
        chosen = set.union(*groups)
        is_valid = all(groups) and set.isdisjoint(*groups) and chosen <= set(self.classes)
        require(is_valid, f"positive and negative must be different classes, got {groups}")

        self._file = file = self.files[self.part]
        # The names of the download and of the files unpacked from it, of which the last is the text.
        self._names = [file.url.rpartition("/")[-1], *file.members]
        super().__init__(
            url=file.url,
            size=None,
            filename=self._names[-1],
            task=BINARY_CLF,
            n_features=self.n_features,
            n_samples=len(file.rows) if chosen == set(self.classes) else None,
            n_classes=2,
            sparse=not self.header,
        )

    def _iter(self) -> Iterator[tuple[dict[str, float], bool]]:
        rows = self._file.rows
        with self.path.open() as text:
            lines = itertools.islice(filter(str.strip, text), rows.start, rows.stop)
            parsed = _csv_rows(self.header, lines) if self.header else map(_libsvm_row, lines)
            for x, y in parsed:
                if y in self.positive or y in self.negative:
                    yield x, y in self.positive

    @property
    def is_downloaded(self) -> bool:
        return self.path.is_file()

    @property
    def _repr_content(self) -> dict[str, str]:
        # River's remote data sets also show a size, which is not published for these files.
        content = super(RemoteDataset, self)._repr_content
        return content | {"URL": self.url, "Downloaded": str(self.is_downloaded)}

    def download(self, force: bool = False, verbose: bool = True) -> None:
        """Download the text into the cache directory.

        Parameters
        ----------
        force
            Whether to download a text that is there already.
        verbose
            Whether to print the URL on standard error.

        Raises
        ------
        DatasetError
            If the download fails, or the text is not the published one.
        """
        if self.is_downloaded and not force:
            return
        if verbose:
            print(f"Downloading {self.url}", file=sys.stderr)
        try:
            with urllib.request.urlopen(self.url, timeout=TIMEOUT) as response:
                content = response.read()
            for name, member in itertools.pairwise([*self._names, ""]):
                _check_sum(name, content)
                content = _unpacked(content, name, member) if member else content
            found = sum(1 for line in content.splitlines() if line.strip())
            expected = self._file.rows.stop
            require(found >= expected, f"{name} has {found:,} rows, expected {expected:,}")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.path.parent) as scratch:
                text = Path(scratch, self.path.name)
                text.write_bytes(content)
                text.replace(self.path)
        except Exception as error:
            raise DatasetError(
                f"{type(self).__name__}: {error}\nTry download(force=True), or put "
                f"{self.path.name} by hand, from {self.url}, into {self.path.parent}"
            ) from error


def _csv_rows(header: str, lines: Iterable[str]) -> Iterator[tuple[dict[str, float], str]]:
    for row in csv.DictReader(itertools.chain([header], lines), skipinitialspace=True):
        # The reader puts None in the place of a missing name or value.
        is_complete = None not in (*row, *row.values())
        require(is_complete, "a row has more or fewer columns than the header")
        y = row.pop("class")
        x = {}
        for name, value in row.items():
            if name.endswith("="):
                x[name + value] = 1.0
            elif name:
                x[name] = float(value)
        yield x, y


def _libsvm_row(line: str) -> tuple[dict[str, float], float]:
    y, *pairs = line.split()
    return {name: float(value) for name, _, value in (p.partition(":") for p in pairs)}, float(y)


def _unpacked(content: bytes, archive: str, member: str) -> bytes:
    if archive.endswith(".zip"):
        return ZipFile(io.BytesIO(content)).read(member)
    if archive.endswith(".tar.gz"):
        with tarfile.open(fileobj=io.BytesIO(content)) as archived:
            return cast(IO[bytes], archived.extractfile(member)).read()
    return bz2.decompress(content) if archive.endswith(".bz2") else gzip.decompress(content)


def _check_sum(name: str, content: bytes) -> None:
    """Raise ValueError if the published checksum of a file is another one."""
    if name in CHECKSUMS:
        algorithm, expected = CHECKSUMS[name].split(":")
        found = hashlib.new(algorithm, content).hexdigest()
        error = f"{name} has the {algorithm} checksum {found}, expected {expected}"
        require(found == expected, error)


class Adult9(PublishedDataset):
    """Adult (a9a): does a person earn more than $50,000 a year? 123 binary features.

    The training part is the one of the Projectron paper. The Tightest paper uses only the 30,162
    rows (test: 15,060) without missing values: those with 14 active features.
    """

    files = _libsvm("binary", "a9a", "", train=32_561, test=16_281)
    n_features = 123
    classes, positive = (-1, 1), (1,)


class CensusIncome(PublishedDataset):
    """Census-Income (KDD): does a person have an income of more than $50,000? Two survey years.

    The training part of the [survey](https://doi.org/10.24432/C5N30T) is the one of the Forgetron
    paper, which does not state its encoding. Here the 7 numeric attributes are features without
    scaling, and the 33 others are one-hot encoded as `attribute=value`; "?" counts as a value. The
    instance weight is left out, because the publisher excludes it from learning.
    """

    files: ClassVar = {
        "train": File(CENSUS, range(199_523), ("census.tar.gz", "census-income.data")),
        "test": File(CENSUS, range(99_762), ("census.tar.gz", "census-income.test")),
    }
    n_features = 510
    classes, positive = ("- 50000.", "50000+."), ("50000+.",)
    header = (
        "age, class of worker=, industry code=, occupation code=, education=, wage per hour, "
        "enrolled in edu inst last wk=, marital status=, major industry code=, "
        "major occupation code=, race=, hispanic origin=, sex=, member of a labor union=, "
        "reason for unemployment=, full or part time employment stat=, capital gains, "
        "capital losses, dividends from stocks, tax filer status=, "
        "region of previous residence=, state of previous residence=, "
        "detailed household and family stat=, detailed household summary in household=, , "
        "migration code-change in msa=, migration code-change in reg=, "
        "migration code-move within reg=, live in this house 1 year ago=, "
        "migration prev res in sunbelt=, num persons worked for employer, "
        "family members under 18=, country of birth father=, country of birth mother=, "
        "country of birth self=, citizenship=, own business or self employed=, "
        "fill inc questionnaire for veterans admin=, veterans benefits=, weeks worked in year, "
        "year=, class"
    )


class Covertype(PublishedDataset):
    """[Forest cover types](https://doi.org/10.24432/C50K5N), 54 features: lodgepole pine (2) or not.

    The Tightest paper shuffles the rows and uses 100,000 for training and 100,000 for testing. In
    file order, the stream has concept drift.
    """

    files: ClassVar = {
        "all": File(f"{UCI}/31/covertype.zip", range(581_012), ("covtype.data.gz", "covtype.data"))
    }
    n_features = 54
    classes, positive = "1234567", "2"
    header = (
        "Elevation, Aspect, Slope, Horizontal_Distance_To_Hydrology, "
        "Vertical_Distance_To_Hydrology, Horizontal_Distance_To_Roadways, Hillshade_9am, "
        "Hillshade_Noon, Hillshade_3pm, Horizontal_Distance_To_Fire_Points, "
        + "".join(f"Wilderness_Area_{n}, " for n in range(1, 5))
        + "".join(f"Soil_Type_{n}, " for n in range(1, 41))
        + "class"
    )


class IJCNN1(PublishedDataset):
    """Problem 1 of the IJCNN 2001 challenge, as its winner encoded it: does an engine misfire?"""

    files = _libsvm("binary", "ijcnn1", ".bz2", train=49_990, test=91_701)
    n_features = 22
    classes, positive = (-1, 1), (1,)


class Letter(PublishedDataset):
    """[Capital letters](https://doi.org/10.24432/C5ZP40) in 20 fonts: N to Z against A to M (negative).

    The first 16,000 rows of the file are the training part, as the donor of the data used them.
    """

    files: ClassVar = {
        "train": File(LETTER, range(16_000), ("letter-recognition.data",)),
        "test": File(LETTER, range(16_000, 20_000), ("letter-recognition.data",)),
    }
    n_features = 16
    classes, positive = string.ascii_uppercase, "NOPQRSTUVWXYZ"
    header = (
        "class, x-box, y-box, width, high, onpix, x-bar, y-bar, x2bar, y2bar, xybar, x2ybr, xy2br, "
        "x-ege, xegvy, y-ege, yegvx"
    )


class MNIST(PublishedDataset):
    """Handwritten digits, 28 by 28 pixels from 0 to 255: one group of digits against another.

    The default is 8 against 3. The Forgetron paper has the 126 splits of the digits into two groups
    of five. Pixels are numbered from 1, row by row; pixels 781 to 784 are always 0.
    """

    files = _libsvm("multiclass", "mnist", ".bz2", train=60_000, test=10_000)
    n_features = 780
    classes, positive, negative = range(10), (8,), (3,)


class Pendigits(PublishedDataset):
    """[Digits](https://doi.org/10.24432/C5MG6K) as 8 points on a pen's path: round (3, 6, 8, 9, 0) or not."""

    files: ClassVar = {
        "train": File(PENDIGITS, range(7_494), ("pendigits.tra",)),
        "test": File(PENDIGITS, range(3_498), ("pendigits.tes",)),
    }
    n_features = 16
    classes, positive = "0123456789", "36890"
    header = "x1,y1,x2,y2,x3,y3,x4,y4,x5,y5,x6,y6,x7,y7,x8,y8,class"


class SensITVehicle(PublishedDataset):
    """Vehicle types from acoustic and seismic sensors at a road, 100 features (combined).

    The training part is the one of the Projectron paper, which does not state how it turns the three
    classes into two.
    """

    files = _libsvm("multiclass/vehicle", "combined", ".bz2", train=78_823, test=19_705)
    n_features = 100
    classes, positive = (1, 2, 3), (3,)


class USPS(PublishedDataset):
    """Handwritten digits of the US Postal Service, 16 by 16 pixels: round (3, 6, 8, 9, 0) or not."""

    files = _libsvm("multiclass", "usps", ".bz2", train=7_291, test=2_007)
    n_features = 256
    # In LIBSVM's file, the class of a digit is the digit plus 1.
    classes, positive = range(1, 11), (4, 7, 9, 10, 1)
