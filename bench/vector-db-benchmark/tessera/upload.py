from typing import List

from dataset_reader.base_reader import Record
from engine.base_client.upload import BaseUploader
from engine.clients.tessera.config import ALL, TESSERA_PROJECT, address_of, required_key
from engine.clients.tessera.service import Service


class TesseraUploader(BaseUploader):
    """Imports vectors over HTTP. One process per client: a caller has two imports at a time."""

    service = None
    project = None
    host = None

    def __init__(self, host, connection_params, upload_params):
        super().__init__(host, connection_params, upload_params)
        # `post_upload` runs in this process also when others upload, which alone are initialised.
        TesseraUploader.host = host

    @classmethod
    def init_client(cls, host, distance, connection_params, upload_params):
        cls.host = host
        cls.service = None

    @classmethod
    def open(cls, dim: int) -> Service:
        if cls.service is None:
            cls.service = Service(address_of(cls.host), required_key(), dim)
            cls.project = f"{TESSERA_PROJECT}-{cls.service.newest(TESSERA_PROJECT)}"
        return cls.service

    @classmethod
    def upload_batch(cls, batch: List[Record]):
        if any(record.vector is None for record in batch):
            raise ValueError("Tessera has no sparse vectors")
        vectors = [record.vector for record in batch]
        service = cls.open(len(vectors[0]))
        service.insert(cls.project, [record.id for record in batch], vectors, lambda _: [ALL])

    @classmethod
    def post_upload(cls, distance):
        """Freezes the release that is searched, and waits until its graph is built and calibrated."""
        # With parallel uploads this process has uploaded nothing; it needs no dimension for this.
        service = cls.open(1)
        service.freeze(cls.project)
        service.search(cls.project, ALL, [1.0], 1)
        service.wait_until_complete(cls.project)
        return {}

    @classmethod
    def delete_client(cls):
        if cls.service is not None:
            cls.service.close()
            cls.service = None
