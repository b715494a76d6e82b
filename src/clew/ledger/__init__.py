"""Facts: a pure fold over entries."""

from clew.ledger.facts import Ledger
from clew.ledger.fold import LedgerFold, fold

__all__ = ["Ledger", "LedgerFold", "fold"]
