"""Events by topic. `protocol.events` names them all, and holds their union."""
