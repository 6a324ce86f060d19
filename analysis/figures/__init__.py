"""Figures of papers from an item's numbers: `chart` says what is drawn and its caption, `bars` and `points` draw it in the
looks of `style`, `pictures` makes PDF and PNG of it. Nothing but `pictures` and what it calls needs matplotlib."""
