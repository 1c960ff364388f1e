"""What goes wrong: every message says what, where, and the way out."""


class MragError(Exception):
    """Base of every error that this package raises for a cause outside itself."""


class InputError(MragError):
    """A question, date, document or file that cannot be used as it is."""


class IndexFormatError(MragError):
    """An index folder that is missing, damaged, foreign, locked or of another version."""


class MissingExtraError(MragError):
    """A library that is needed for what was asked is not installed; the message names the extra."""
