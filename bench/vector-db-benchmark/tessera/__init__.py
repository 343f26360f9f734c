from engine.clients.tessera.configure import TesseraConfigurator
from engine.clients.tessera.search import TesseraSearcher
from engine.clients.tessera.upload import TesseraUploader

__all__ = ["TesseraConfigurator", "TesseraSearcher", "TesseraUploader"]
