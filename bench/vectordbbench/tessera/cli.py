from typing import Annotated, Unpack

import click
from pydantic import SecretStr

from ....cli.cli import (
    CommonTypedDict,
    cli,
    click_parameter_decorators_from_typed_dict,
    run,
)
from .. import DB


class TesseraTypedDict(CommonTypedDict):
    url: Annotated[
        str,
        click.option("--url", type=str, default="http://127.0.0.1:3000", help="Address of the service"),
    ]
    api_key: Annotated[
        str,
        click.option("--api-key", type=str, required=True, help="API key that may create projects"),
    ]
    project: Annotated[
        str,
        click.option("--project", type=str, default="vectordbbench", help="Begin of the projects' names"),
    ]
    id_thresholds: Annotated[
        str,
        click.option(
            "--id-thresholds",
            type=str,
            default="",
            help="Values of filters id >= value that the cases use, comma-separated",
        ),
    ]


@cli.command()
@click_parameter_decorators_from_typed_dict(TesseraTypedDict)
def Tessera(**parameters: Unpack[TesseraTypedDict]):
    from .config import TesseraConfig, TesseraIndexConfig

    run(
        db=DB.Tessera,
        db_config=TesseraConfig(
            db_label=parameters["db_label"],
            url=parameters["url"],
            api_key=SecretStr(parameters["api_key"]),
            project=parameters["project"],
        ),
        db_case_config=TesseraIndexConfig(id_thresholds=parameters["id_thresholds"]),
        **parameters,
    )
