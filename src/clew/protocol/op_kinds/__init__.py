"""Ops by topic. `protocol.ops` names them all, and holds their union."""
