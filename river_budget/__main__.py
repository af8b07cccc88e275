from __future__ import annotations

import sys


def main() -> None:
    try:
        from river_budget import cli
    except ModuleNotFoundError as error:
        sys.exit(f"river-budget needs {error.name}: pip install '.[cli]' in the checkout")
    except KeyboardInterrupt:
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
