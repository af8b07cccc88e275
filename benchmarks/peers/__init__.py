"""Other libraries on the same examples: `peers` is the section of the results, with a module for each library."""
