from benchmark.dataset import Dataset
from engine.base_client import IncompatibilityError
from engine.base_client.configure import BaseConfigurator
from engine.base_client.distances import Distance
from engine.clients.tessera.config import TESSERA_PROJECT, address_of, required_key
from engine.clients.tessera.service import Service


class TesseraConfigurator(BaseConfigurator):
    """Makes a project for each run. Tessera has no parameters of the index."""

    SPARSE_VECTOR_SUPPORT = False
    DISTANCE_MAPPING = {Distance.COSINE: "cosine"}

    def clean(self):
        # A project cannot be deleted over HTTP: `recreate` begins the next one.
        pass

    def recreate(self, dataset: Dataset, collection_params):
        if dataset.config.distance not in self.DISTANCE_MAPPING:
            raise IncompatibilityError(f"Tessera compares by cosine, not by {dataset.config.distance}")
        service = Service(address_of(self.host), required_key(), dataset.config.vector_size)
        service.create(f"{TESSERA_PROJECT}-{service.newest(TESSERA_PROJECT) + 1}")
        service.close()
