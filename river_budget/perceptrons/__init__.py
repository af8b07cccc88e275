"""The kernel perceptrons, one algorithm in each file. `catalog` lists them."""

# The root has the classes.
__all__: list[str] = []
