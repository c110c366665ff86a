"""``python3 -m devcloud``."""

import sys

from devcloud.cli import main

if __name__ == "__main__":
    sys.exit(main())
