"""Base classes with the abstract methods of VectorDBBench's."""

from abc import ABC, abstractmethod
from contextlib import contextmanager
from enum import Enum

from pydantic import BaseModel


class MetricType(str, Enum):
    L2 = "L2"
    COSINE = "COSINE"
    IP = "IP"


class DBConfig(ABC, BaseModel):
    db_label: str = ""
    version: str = ""
    note: str = ""

    @abstractmethod
    def to_dict(self) -> dict:
        raise NotImplementedError


class DBCaseConfig(ABC):
    @abstractmethod
    def index_param(self) -> dict:
        raise NotImplementedError

    @abstractmethod
    def search_param(self) -> dict:
        raise NotImplementedError


class VectorDB(ABC):
    @abstractmethod
    def __init__(self, dim, db_config, db_case_config, collection_name, drop_old=False, **kwargs):
        raise NotImplementedError

    @abstractmethod
    @contextmanager
    def init(self):
        raise NotImplementedError

    @abstractmethod
    def insert_embeddings(self, embeddings, metadata, **kwargs):
        raise NotImplementedError

    @abstractmethod
    def search_embedding(self, query, k=100, filters=None):
        raise NotImplementedError

    @abstractmethod
    def optimize(self, data_size=None):
        raise NotImplementedError
