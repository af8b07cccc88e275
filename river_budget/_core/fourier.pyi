from typing import Any

import numpy as np
from numpy.typing import NDArray

def frequencies_of(seed: int, name: Any, n: int) -> NDArray[np.float32]: ...
