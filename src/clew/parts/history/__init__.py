"""The past of a session: paging and export."""
