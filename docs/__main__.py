"""Build the documentation site, run the demos for it, and check its links.

    python -m docs [OUT]

Every warning is an error, and so is a demo that fails. The site works from `file://`, without a network.

"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx_build

from docs import links

HERE = Path(__file__).parent


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "_build"
    shutil.rmtree(HERE / "api", ignore_errors=True)
    if (out / ".buildinfo").exists():
        shutil.rmtree(out)
    status = sphinx_build(["-W", "--keep-going", "-q", str(HERE), str(out)])
    broken = links.broken(out)
    for link in broken:
        print(link, file=sys.stderr)
    print(f"{out / 'index.html'}: {len(list(out.rglob('*.html')))} pages")
    return status or bool(broken)


if __name__ == "__main__":
    sys.exit(main())
