import os

# BLAS reads this when NumPy is loaded. Times are those of one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
