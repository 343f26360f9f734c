from dataclasses import dataclass
from typing import Optional


@dataclass
class Record:
    id: int
    vector: Optional[list]
    metadata: Optional[dict] = None


@dataclass
class Query:
    vector: list
    meta_conditions: Optional[dict] = None
    expected_result: Optional[list] = None
