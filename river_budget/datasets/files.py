"""The published files: where they are, what is in them, and their checksums."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CHECKSUMS", "FILES", "File"]


class File(NamedTuple):
    """A published text file with one example a line.

    Attributes
    ----------
    url
        Address of the download: the text file itself, or an archive.
    rows
        Number of examples.
    members
        Names of the nested files to unpack, from the outermost to the text file.

    """

    url: str
    rows: int
    members: tuple[str, ...] = ()

    @property
    def download(self) -> str:
        """Name of the download."""
        return self.url.rpartition("/")[-1]

    @property
    def text(self) -> str:
        """Name of the text file."""
        return [self.download, *self.members][-1]


LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
UCI = "https://archive.ics.uci.edu/static/public"

# By the class name of the data set, then by part.
FILES = {
    "Adult9": {
        "train": File(f"{LIBSVM}/binary/a9a", 32_561),
        "test": File(f"{LIBSVM}/binary/a9a.t", 16_281),
    },
    "SensITVehicle": {
        "train": File(f"{LIBSVM}/multiclass/vehicle/combined.bz2", 78_823, ("combined",)),
        "test": File(f"{LIBSVM}/multiclass/vehicle/combined.t.bz2", 19_705, ("combined.t",)),
    },
    "IJCNN1": {
        "train": File(f"{LIBSVM}/binary/ijcnn1.bz2", 49_990, ("ijcnn1",)),
        "test": File(f"{LIBSVM}/binary/ijcnn1.t.bz2", 91_701, ("ijcnn1.t",)),
    },
    "Covertype": {
        "all": File(f"{UCI}/31/covertype.zip", 581_012, ("covtype.data.gz", "covtype.data")),
    },
    "Letter": {
        "train": File(f"{UCI}/59/letter+recognition.zip", 20_000, ("letter-recognition.data",)),
        "test": File(f"{UCI}/59/letter+recognition.zip", 20_000, ("letter-recognition.data",)),
    },
    "MNIST": {
        "train": File(f"{LIBSVM}/multiclass/mnist.bz2", 60_000, ("mnist",)),
        "test": File(f"{LIBSVM}/multiclass/mnist.t.bz2", 10_000, ("mnist.t",)),
    },
    "Pendigits": {
        "train": File(
            f"{UCI}/81/pen+based+recognition+of+handwritten+digits.zip", 7_494, ("pendigits.tra",)
        ),
        "test": File(
            f"{UCI}/81/pen+based+recognition+of+handwritten+digits.zip", 3_498, ("pendigits.tes",)
        ),
    },
    "USPS": {
        "train": File(f"{LIBSVM}/multiclass/usps.bz2", 7_291, ("usps",)),
        "test": File(f"{LIBSVM}/multiclass/usps.t.bz2", 2_007, ("usps.t",)),
    },
    "CensusIncome": {
        "train": File(
            f"{UCI}/117/census+income+kdd.zip", 199_523, ("census.tar.gz", "census-income.data")
        ),
        "test": File(
            f"{UCI}/117/census+income+kdd.zip", 99_762, ("census.tar.gz", "census-income.test")
        ),
    },
}

# By the name of a download or of a file unpacked from it. Each checksum is certain: two or more
# projects without common code state it, or the text was regenerated from its values and has a
# checksum stated elsewhere. The SHA-256 of every text file is also recorded on first use.
CHECKSUMS = {
    "a9a": "sha256:f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
    "a9a.t": "sha256:1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
    "covtype.data.gz": "sha256:614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    "ijcnn1.t.bz2": "md5:66433ab8089acee9e56dc61ac89a2fe2",
    "letter-recognition.data": (
        "sha256:2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2"
    ),
    "mnist": "sha256:c42b75fcb54dda11d97af9bd6e3950b41c93b4f44eeb9608aa115f79a5979e88",
    "mnist.t": "sha256:31ffc3cfb1824d0994d57172bb8ca68882e578859e1ee1bd9fc1f2f15bfd06a2",
    "pendigits.tra": "sha256:e2b9eb9f0d0467e2b64a4816a3420edf2b8043447576f4b84337aba44a9f97d3",
    "pendigits.tes": "sha256:8bd03229c5c5291fefe43e45465dd948d2645bf23328b9d993e0b777666b2015",
    "usps.bz2": "md5:ec16c51db3855ca6c91edd34d0e9b197",
    "usps.t.bz2": "md5:8ea070ee2aca1ac39742fdd1ef5ed118",
}
