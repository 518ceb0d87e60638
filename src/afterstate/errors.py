"""Error classes. Every message says what was given, where, and what to do."""


class AfterstateError(Exception):
    """Base of all errors that this package raises on purpose."""


class InputError(AfterstateError):
    """An argument, option, board or pattern that cannot be used."""


class GameError(InputError):
    """A game whose kernels, bounds or text contradict each other; `check_game` finds it."""


class FileError(AfterstateError):
    """A file or folder that cannot be read, written or understood."""


class ModelError(FileError):
    """A model file that is broken, from another program, or for another game."""


class DivergedError(AfterstateError):
    """A training run that diverged or collapsed; its checkpoints are kept."""


class ResourceError(AfterstateError):
    """Not enough memory or disk space."""


class ClusterError(AfterstateError):
    """A cluster that cannot be reached, was lost, or whose nodes differ."""
