"""Dates in text: the words of calendars, tokens, what each form says, the rules, and what stands around them."""
