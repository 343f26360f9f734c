from pydantic import BaseModel, SecretStr

from ..api import DBCaseConfig, DBConfig, MetricType


class TesseraConfig(DBConfig):
    """Where the service is. Each load makes a new project: `<project>-1`, `<project>-2` and so on."""

    url: str = "http://127.0.0.1:3000"
    api_key: SecretStr
    project: str = "vectordbbench"

    def to_dict(self) -> dict:
        return {
            "url": self.url,
            "api_key": self.api_key.get_secret_value(),
            "project": self.project,
        }


class TesseraIndexConfig(BaseModel, DBCaseConfig):
    """
    Tessera chooses the parameters of its graph and the effort of a search itself, so there are none to
    set. `id_thresholds` are the values of filters `id >= value`, comma-separated: a filter is a release,
    which has to be known when vectors are inserted.
    """

    metric_type: MetricType | None = None
    id_thresholds: str = ""

    def index_param(self) -> dict:
        if self.metric_type not in (None, MetricType.COSINE):
            msg = f"Tessera compares by cosine, not by {self.metric_type}"
            raise ValueError(msg)
        return {"id_thresholds": sorted(int(value) for value in self.id_thresholds.split(",") if value.strip())}

    def search_param(self) -> dict:
        return {}
