"""The public data sets of the papers, from their publishers or from local files."""

from __future__ import annotations

from .adult9 import Adult9
from .census_income import CensusIncome
from .covertype import Covertype
from .errors import DatasetError
from .ijcnn1 import IJCNN1
from .letter import Letter
from .local import load
from .mnist import MNIST, mnist_splits
from .pendigits import Pendigits
from .sensit_vehicle import SensITVehicle
from .usps import USPS

__all__ = [
    "IJCNN1",
    "MNIST",
    "USPS",
    "Adult9",
    "CensusIncome",
    "Covertype",
    "DatasetError",
    "Letter",
    "Pendigits",
    "SensITVehicle",
    "load",
    "mnist_splits",
]
