"""One member for each of minaction's five families, as somebody else would add them."""
