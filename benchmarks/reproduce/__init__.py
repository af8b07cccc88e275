"""The papers' tables, with our figures beside theirs.

`published` reads the papers' figures from the CSV files beside it, `data` their data sets. A module for each paper
measures ours, and `papers` is the section of the results. A module has

- `PUBLISHED`, the figures of the paper by setting;
- `SETTINGS`, what is measured, and `QUICK`, a few that take a second or two;
- `N_REPEATS`, how often;
- `measured(data_set, algorithm, budget, n_repeats)`, which returns lists of figures by what they are called in
  `PUBLISHED`;
- `table(found)`, a table of the results by setting.

"""
