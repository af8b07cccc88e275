"""The kernel perceptrons, one algorithm per file; `catalog` lists them."""

# The root has the classes.
__all__: list[str] = []
