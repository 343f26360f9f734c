from typing import List, Tuple

from dataset_reader.base_reader import Query
from engine.base_client.search import BaseSearcher
from engine.clients.tessera.config import ALL, TESSERA_PROJECT, address_of, required_key
from engine.clients.tessera.service import Service


class TesseraSearcher(BaseSearcher):
    service = None
    project = None
    host = None

    @classmethod
    def init_client(cls, host, distance, connection_params: dict, search_params: dict):
        cls.host = host
        cls.service = None

    @classmethod
    def search_one(cls, query: Query, top: int) -> List[Tuple[int, float]]:
        if query.meta_conditions:
            raise ValueError("Tessera filters by releases, not by conditions on metadata")
        if cls.service is None:
            cls.service = Service(address_of(cls.host), required_key(), len(query.vector))
            cls.project = f"{TESSERA_PROJECT}-{cls.service.newest(TESSERA_PROJECT)}"
        return cls.service.search(cls.project, ALL, query.vector, top)

    @classmethod
    def delete_client(cls):
        if cls.service is not None:
            cls.service.close()
            cls.service = None
