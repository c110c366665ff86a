"""Exit with 0 when a URL answers 200; for the health checks of an image without curl."""  # noqa: INP001 - a script, in no package

import sys
import urllib.error
import urllib.request

SECONDS = 4


def main() -> int:
    """Ask the URL given as the only argument."""
    try:
        # The URL comes from the compose file.
        with urllib.request.urlopen(sys.argv[1], timeout=SECONDS) as answer:  # noqa: S310
            return 0 if answer.status == 200 else 1  # noqa: PLR2004
    except (OSError, urllib.error.URLError) as error:
        sys.stderr.write(f"{sys.argv[1]}: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
