"""Stand-in for the command line: commands are functions, and a run is recorded."""

from typing import TypedDict

runs = []


class CommonTypedDict(TypedDict):
    db_label: str


class _Commands:
    def command(self):
        return lambda function: function


cli = _Commands()


def click_parameter_decorators_from_typed_dict(_):
    return lambda function: function


def run(db, db_config, db_case_config, **parameters):
    runs.append((db, db_config, db_case_config, parameters))
