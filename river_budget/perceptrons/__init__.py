"""The kernel perceptrons, one algorithm per file; `catalog` lists them."""
