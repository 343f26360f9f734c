"""Filters with the names and fields of VectorDBBench's."""

from enum import Enum

from pydantic import BaseModel


class FilterOp(str, Enum):
    NumGE = "NumGE"
    StrEqual = "Label"
    NonFilter = "NonFilter"


class Filter(BaseModel):
    type: FilterOp
    filter_rate: float = 0.0


class NonFilter(Filter):
    type: FilterOp = FilterOp.NonFilter


class IntFilter(Filter):
    type: FilterOp = FilterOp.NumGE
    int_field: str = "id"
    int_value: int


class LabelFilter(Filter):
    type: FilterOp = FilterOp.StrEqual
    label_field: str = "labels"
    label_percentage: float

    @property
    def label_value(self) -> str:
        return f"label_{int(self.label_percentage * 100)}p"
