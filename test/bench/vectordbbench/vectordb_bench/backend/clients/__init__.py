from enum import Enum


class DB(Enum):
    Tessera = "Tessera"
