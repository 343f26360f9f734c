"""Stand-in for the parts of pydantic that clients of VectorDBBench use."""


class SecretStr:
    def __init__(self, value: str):
        self._value = value

    def get_secret_value(self) -> str:
        return self._value

    def __str__(self) -> str:
        return "**********"


class BaseModel:
    def __init__(self, **values):
        fields = {}
        for base in reversed(type(self).__mro__):
            fields.update(getattr(base, "__annotations__", {}))
        unknown = set(values) - set(fields)
        if unknown:
            raise ValueError(f"unknown fields: {unknown}")
        for name in fields:
            if name in values:
                setattr(self, name, values[name])
            elif hasattr(type(self), name):
                setattr(self, name, getattr(type(self), name))
            else:
                raise ValueError(f"{name} is missing")
