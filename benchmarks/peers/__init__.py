"""Times and mistakes of other libraries on the same examples, and the ratios of our times to theirs.

    python -m benchmarks.peers --kol BINARY_OR_DIR --dogma DIR --budgetedsvm DIR

None of them is part of this repository; each is compared if its place is given. KOL is an executable of
that name, BudgetedSVM a directory with `budgetedsvm-train` and `budgetedsvm-predict`, DOGMA a directory of
MATLAB files, which `octave-cli` runs, or the interpreter that `--octave` names.

Both sides learn the same examples in the same order, with the same kernel and budget; we learn them one
by one from dicts (`learn_one`), and in blocks of 1,000 rows (`learn_many`). The three run alternately, and
the fastest of several runs of each counts. All times are processor times of one thread, without reading
files. The mistakes and support vectors of both sides are shown, to tell where they do the same work.

Adult is read from the directory given by RIVER_BUDGET_DATA.

"""
