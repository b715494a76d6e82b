"""`python -m clew` is the same as `clew`."""

import sys

from clew.cli.entry import main

sys.exit(main())
