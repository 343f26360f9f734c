from dataclasses import dataclass


@dataclass
class DatasetConfig:
    name: str
    vector_size: int
    distance: str


@dataclass
class Dataset:
    config: DatasetConfig
