"""Build the documentation site, run the demos for it, and check its links.

    python -m docs [OUT]

Every warning is an error, and so is a demo that fails. The site works from `file://`, without a network. Beside
each page in HTML is the same page in Markdown; `llms.txt` lists these.

"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

from docs import links

HERE = Path(__file__).parent


STRICT = ["-W", "--keep-going", "-q"]


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "_build"
    shutil.rmtree(HERE / "api", ignore_errors=True)
    if (out / ".buildinfo").exists():
        shutil.rmtree(out)
    status = sphinx_build([*STRICT, str(HERE), str(out)])
    # What was read for the HTML, demos included, is not read again.
    status |= sphinx_build(
        [*STRICT, "-b", "markdown", "-d", str(out / ".doctrees"), str(HERE), str(out)]
    )
    broken = links.broken(out)
    for link in broken:
        print(link, file=sys.stderr)
    print(f"{out / 'index.html'}: {len(list(out.rglob('*.html')))} pages")
    return status or bool(broken)


if __name__ == "__main__":
    sys.exit(main())
