"""``python -m quickstart``, in the environment that ``tools/bootstrap.py`` makes."""

import sys

from quickstart.main import main

if __name__ == "__main__":
    sys.exit(main())
