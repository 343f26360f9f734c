class IncompatibilityError(Exception):
    pass
