"""The table of the data sets: where they are, what is in them, and which classes are positive."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple


class File(NamedTuple):
    """A published text file with one example a line."""

    url: str  # of the download: the text file itself, or an archive
    n_rows: int
    members: tuple[str, ...] = ()  # nested files to unpack, from the outermost to the text file
    kept: slice = slice(None)  # the rows of a part that is in the same file as another one

    @property
    def names(self) -> list[str]:
        """Names of the download and of what is unpacked from it; the last is the text file."""
        return [self.url.rpartition("/")[-1], *self.members]


class Row(NamedTuple):
    """A data set. The file is in LIBSVM's format, or CSV with these columns and no header."""

    about: str  # the docstring up to its sections
    references: tuple[str, ...]
    files: dict[str, File]  # by part
    n_features: int
    positive: Collection[Any]  # classes
    columns: tuple[str, ...] = ()  # the one with the class is called "class"
    categories: tuple[str, ...] = ()  # columns that are one-hot encoded; others are numbers
    unused: str = ""  # a column that is no feature
    parameters: str = ""  # the description of those that come before the part


def libsvm(path: str, train: int, test: int) -> dict[str, File]:
    """Return LIBSVM's two parts of a data set: files with and without ".t" before ".bz2"."""
    name = path.removesuffix(".bz2")
    ending = path.removeprefix(name)
    return {
        part: File(
            f"https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/{text}{ending}",
            n_rows,
            (text.rpartition("/")[-1],) if ending else (),
        )
        for part, text, n_rows in [("train", name, train), ("test", f"{name}.t", test)]
    }


UCI = "https://archive.ics.uci.edu/static/public"
LETTER = f"{UCI}/59/letter+recognition.zip", 20_000, ("letter-recognition.data",)
PENDIGITS = f"{UCI}/81/pen+based+recognition+of+handwritten+digits.zip"
CENSUS = f"{UCI}/117/census+income+kdd.zip"

FORGETRON = "[Dekel, O., Shalev-Shwartz, S. and Singer, Y., 2005. The Forgetron: a kernel-based Perceptron on a fixed budget. NIPS 18, section 5.](https://papers.nips.cc/paper/2806-the-forgetron-a-kernel-based-perceptron-on-a-fixed-budget)"
PROJECTRON = "[Orabona, F., Keshet, J. and Caputo, B., 2008. The Projectron: a bounded kernel-based Perceptron. ICML 2008, section 5.](https://doi.org/10.1145/1390156.1390247)"
TIGHTEST = "[Wang, Z. and Vucetic, S., 2009. Tighter Perceptron with improved dual use of cached data for model representation and validation. IJCNN 2009, Table 1.](https://doi.org/10.1109/IJCNN.2009.5178870)"
BINARY = "[LIBSVM data: classification (binary class).](https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html)"
MULTICLASS = "[LIBSVM data: classification (multi-class).](https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html)"
PEN_BASED = "[Alpaydin, E. and Alimoglu, F., 1998. Pen-Based Recognition of Handwritten Digits. UCI Machine Learning Repository.](https://doi.org/10.24432/C5MG6K)"
BLACKARD = "[Blackard, J., 1998. Covertype. UCI Machine Learning Repository.](https://doi.org/10.24432/C50K5N)"
SLATE = "[Slate, D., 1991. Letter Recognition. UCI Machine Learning Repository.](https://doi.org/10.24432/C5ZP40)"
SURVEY = (
    "[Census-Income (KDD), 2000. UCI Machine Learning Repository.](https://doi.org/10.24432/C5N30T)"
)

LETTER_FEATURES = (
    "x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar", "y2bar", "xybar",
    "x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx",
)  # fmt: skip
COVERTYPE_FEATURES = (
    "Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology", "Horizontal_Distance_To_Roadways", "Hillshade_9am",
    "Hillshade_Noon", "Hillshade_3pm", "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area_{n}" for n in range(1, 5)), *(f"Soil_Type_{n}" for n in range(1, 41)),
)  # fmt: skip
CENSUS_COLUMNS = (
    "age", "class of worker", "industry code", "occupation code", "education", "wage per hour",
    "enrolled in edu inst last wk", "marital status", "major industry code",
    "major occupation code", "race", "hispanic origin", "sex", "member of a labor union",
    "reason for unemployment", "full or part time employment stat", "capital gains",
    "capital losses", "dividends from stocks", "tax filer status", "region of previous residence",
    "state of previous residence", "detailed household and family stat",
    "detailed household summary in household", "instance weight", "migration code-change in msa",
    "migration code-change in reg", "migration code-move within reg",
    "live in this house 1 year ago", "migration prev res in sunbelt",
    "num persons worked for employer", "family members under 18", "country of birth father",
    "country of birth mother", "country of birth self", "citizenship",
    "own business or self employed", "fill inc questionnaire for veterans admin",
    "veterans benefits", "weeks worked in year", "year", "class",
)  # fmt: skip
CENSUS_OTHERS = {
    "age", "wage per hour", "capital gains", "capital losses", "dividends from stocks",
    "num persons worked for employer", "weeks worked in year", "instance weight", "class",
}  # fmt: skip

TABLE = {
    "Adult9": Row(
        """Adult (a9a): does a person earn more than $50,000 a year? 123 binary features.

        The training part is the one of the Projectron paper [^1]. The Tightest paper [^2] uses only
        the 30,162 rows (test: 15,060) without missing values: those with 14 active features.""",
        (PROJECTRON, TIGHTEST, BINARY),
        libsvm("binary/a9a", train=32_561, test=16_281),
        n_features=123,
        positive={1},
    ),
    "CensusIncome": Row(
        """Census-Income (KDD): does a person have an income of more than $50,000? Two survey years.

        The training part is the one of the Forgetron paper [^1], which does not state its encoding.
        Here the 7 numeric attributes are features without scaling, and the 33 others are one-hot
        encoded as `attribute=value`; "?" counts as a value. The instance weight is left out, because
        the publisher excludes it from learning.""",
        (FORGETRON, SURVEY),
        {
            "train": File(CENSUS, 199_523, ("census.tar.gz", "census-income.data")),
            "test": File(CENSUS, 99_762, ("census.tar.gz", "census-income.test")),
        },
        n_features=510,
        positive={"50000+."},
        columns=CENSUS_COLUMNS,
        categories=tuple(name for name in CENSUS_COLUMNS if name not in CENSUS_OTHERS),
        unused="instance weight",
    ),
    "Covertype": Row(
        """Forest cover types of 581,012 locations, 54 features: lodgepole pine against all others.

        The positive class is class 2, as in the Tightest paper [^1], which shuffles the rows and uses
        100,000 for training and 100,000 for testing. In file order, the stream has concept drift.""",
        (TIGHTEST, BLACKARD),
        {"all": File(f"{UCI}/31/covertype.zip", 581_012, ("covtype.data.gz", "covtype.data"))},
        n_features=54,
        positive={"2"},
        columns=(*COVERTYPE_FEATURES, "class"),
    ),
    "IJCNN1": Row(
        """Problem 1 of the IJCNN 2001 challenge: does an engine misfire? 22 features.

        The 49,990 training rows and 91,701 test rows are those of the Tightest paper [^1], in the
        encoding of the challenge's winner.""",
        (TIGHTEST, BINARY),
        libsvm("binary/ijcnn1.bz2", train=49_990, test=91_701),
        n_features=22,
        positive={1},
    ),
    "Letter": Row(
        """Capital letters in 20 fonts, 16 features: N to Z (positive) against A to M.

        The first 16,000 rows are the training part, as the donor of the data used them and as in the
        Tightest paper [^1]. Both parts are in one file.""",
        (TIGHTEST, SLATE),
        {"train": File(*LETTER, slice(16_000)), "test": File(*LETTER, slice(16_000, None))},
        n_features=16,
        positive=set("NOPQRSTUVWXYZ"),
        columns=("class", *LETTER_FEATURES),
    ),
    "MNIST": Row(
        """Handwritten digits, 28 by 28 pixels from 0 to 255: one group of digits against another.

        The default is 8 against 3, the task of the Tightest paper [^1]. The Forgetron paper [^2] has
        the 126 splits of the digits into two groups of five. Digits in neither group are left out.
        Pixels are numbered from 1, row by row; pixels 781 to 784 are always 0.""",
        (TIGHTEST, FORGETRON, MULTICLASS),
        libsvm("multiclass/mnist.bz2", train=60_000, test=10_000),
        n_features=780,
        positive={8},
        parameters="positive, negative\n    The digits of each class.",
    ),
    "Pendigits": Row(
        """Handwritten digits, as the coordinates of 8 points on the pen's path: round digits or not.

        The positive class is the digits 3, 6, 8, 9 and 0, as in the Tightest paper [^1].""",
        (TIGHTEST, PEN_BASED),
        {
            "train": File(PENDIGITS, 7_494, ("pendigits.tra",)),
            "test": File(PENDIGITS, 3_498, ("pendigits.tes",)),
        },
        n_features=16,
        positive=set("36890"),
        columns=(*(f"{axis}{n}" for n in range(1, 9) for axis in "xy"), "class"),
    ),
    "SensITVehicle": Row(
        """Vehicle types from acoustic and seismic sensors at a road, 100 features (combined).

        The training part is the one of the Projectron paper [^1], which does not state how it turns
        the three classes into two. The default here is class 3 against the others.""",
        (PROJECTRON, MULTICLASS),
        libsvm("multiclass/vehicle/combined.bz2", train=78_823, test=19_705),
        n_features=100,
        positive={3},
        parameters="positive\n    The positive classes, one or two of 1, 2 and 3.",
    ),
    "USPS": Row(
        """Handwritten digits of the US Postal Service, 16 by 16 pixels: round digits or not.

        The positive class is the digits 3, 6, 8, 9 and 0, as in the Tightest paper [^1].""",
        (TIGHTEST, MULTICLASS),
        libsvm("multiclass/usps.bz2", train=7_291, test=2_007),
        n_features=256,
        positive={4, 7, 9, 10, 1},  # In LIBSVM's file, the class of a digit is the digit plus 1.
    ),
}

# Numbers of rows of each digit.
MNIST_COUNTS = {
    "train": [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949],
    "test": [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009],
}

# By the name of a download or of a file unpacked from it. Each checksum is certain: two or more
# projects without common code state it, or the text was regenerated from its values and has a
# checksum stated elsewhere. The SHA-256 of every text file is also recorded on first use.
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
