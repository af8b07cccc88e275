"""The snippets of a page in Markdown."""

from __future__ import annotations

import doctest
import re

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(text, language):
    """Yield the blocks of a language, and the number of lines above each."""
    for block in re.finditer(rf"```{language}\n(.*?)```", text, re.DOTALL):
        yield block[1], text[: block.start(1)].count("\n")


def failures(path, names=None):
    """Run the examples of a page, in order and with one set of names; return the failed ones.

    The names are those given, and get those of the page.
    """
    names, reports, parser = {} if names is None else names, [], doctest.DocTestParser()
    for block, above in blocks(path.read_text(), "pycon"):
        test = parser.get_doctest(block, names, path.name, str(path), above)
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=reports.append, clear_globs=False)
        names.update(test.globs)
    return "".join(reports)


def run(path, names):
    """Run the Python snippets of a page as one script."""
    found = list(blocks(path.read_text(), "python"))
    assert found
    for block, above in found:
        exec(compile("\n" * above + block, path.name, "exec"), names)
