"""`python -m saccade`: the command `saccade`, for whoever starts modules."""

import sys

from saccade.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
