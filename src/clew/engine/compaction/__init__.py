"""Making the view smaller: sections, what crosses by code, the receipt."""
