"""What success counts can bear. Tests and intervals are exact where an exact one is known and quick; what a number
cannot say is None or is said in words, never a zero.

Functions take counts; `rates.rate`, `paired.pair` and `comparisons.compare` make them from rows."""
