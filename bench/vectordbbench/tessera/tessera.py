"""Client of VectorDBBench for Tessera."""

import logging
from contextlib import contextmanager

from vectordb_bench.backend.filter import Filter, FilterOp

from ..api import VectorDB
from .config import TesseraIndexConfig
from .service import Service

log = logging.getLogger(__name__)

ALL = "all"


def label_scope(label: str) -> str:
    return f"label-{label}"


def threshold_scope(value: int) -> str:
    return f"id-from-{value}"


class Tessera(VectorDB):
    """
    Vectors are imported over HTTP into environments: `all`, and one per label and per threshold of ids.
    `optimize` freezes each as a release, which is what filtered and unfiltered searches go to.
    """

    supported_filter_types: list[FilterOp] = [
        FilterOp.NonFilter,
        FilterOp.NumGE,
        FilterOp.StrEqual,
    ]
    # A connection carries one request at a time.
    thread_safe: bool = False

    def __init__(
        self,
        dim: int,
        db_config: dict,
        db_case_config: TesseraIndexConfig,
        collection_name: str = "vectordbbench",
        drop_old: bool = False,
        with_scalar_labels: bool = False,
        **kwargs,
    ):
        self.name = "Tessera"
        self.dim = dim
        self.db_config = db_config
        self.with_scalar_labels = with_scalar_labels
        self.thresholds = db_case_config.index_param()["id_thresholds"]
        self.release = ALL
        self.service: Service | None = None
        service = self._open()
        try:
            # A project cannot be deleted over HTTP, so a new load gets a project of its own.
            newest = service.newest(db_config["project"])
            self.project = f"{db_config['project']}-{newest + 1 if drop_old or newest == 0 else newest}"
            if drop_old or newest == 0:
                service.create(self.project)
                log.info("Tessera: created the project %s", self.project)
        finally:
            service.close()

    def _open(self) -> Service:
        return Service(self.db_config["url"], self.db_config["api_key"], self.dim)

    @contextmanager
    def init(self):
        self.service = self._open()
        try:
            yield
        finally:
            self.service.close()
            self.service = None

    def need_normalize_cosine(self) -> bool:
        return False

    def _scopes_of(self, number: int, label: str | None) -> list[str]:
        scopes = [ALL]
        if label is not None:
            scopes.append(label_scope(label))
        scopes.extend(threshold_scope(value) for value in self.thresholds if number >= value)
        return scopes

    def insert_embeddings(
        self,
        embeddings: list[list[float]],
        metadata: list[int],
        labels_data: list[str] | None = None,
        **kwargs,
    ) -> tuple[int, Exception | None]:
        assert self.service is not None, "call init() first"
        labels = labels_data if self.with_scalar_labels else None
        try:
            self.service.insert(
                self.project,
                metadata,
                embeddings,
                lambda i: self._scopes_of(int(metadata[i]), None if labels is None else str(labels[i])),
            )
        except Exception as error:
            log.warning("Tessera: an import failed: %s", error)
            return 0, error
        return len(metadata), None

    def optimize(self, data_size: int | None = None):
        """Freezes the releases, and waits until all graphs are built and calibrated."""
        assert self.service is not None, "call init() first"
        self.service.freeze(self.project)
        # The first search loads the project where it is not in memory.
        self.service.search(self.project, ALL, [1.0] * self.dim, 1)
        self.service.wait_until_complete(self.project)

    def prepare_filter(self, filters: Filter):
        if filters.type == FilterOp.NonFilter:
            self.release = ALL
        elif filters.type == FilterOp.NumGE:
            if filters.int_value not in self.thresholds:
                msg = f"load with --id-thresholds {filters.int_value}: a filter of Tessera is a release"
                raise ValueError(msg)
            self.release = threshold_scope(filters.int_value)
        elif filters.type == FilterOp.StrEqual:
            self.release = label_scope(filters.label_value)
        else:
            msg = f"Tessera has no filter of the kind {filters}"
            raise ValueError(msg)

    def search_embedding(self, query: list[float], k: int = 100, **kwargs) -> list[int]:
        assert self.service is not None, "call init() first"
        return [number for number, _ in self.service.search(self.project, self.release, query, k)]
