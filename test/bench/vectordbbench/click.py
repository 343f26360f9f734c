"""Stand-in for click: options keep what they were declared with."""


def option(*names, **settings):
    return {"names": names, **settings}
