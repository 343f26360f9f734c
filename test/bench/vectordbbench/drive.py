"""
Drives the client as VectorDBBench does: one object, which is copied into other processes for searching.
Prints what it has found as JSON.
"""

import copy
import json
import multiprocessing
import random
import sys

from pydantic import SecretStr
from vectordb_bench.backend.clients.api import MetricType
from vectordb_bench.backend.clients.tessera.config import TesseraConfig, TesseraIndexConfig
from vectordb_bench.backend.clients.tessera.tessera import Tessera
from vectordb_bench.backend.filter import FilterOp, IntFilter, LabelFilter, NonFilter

DIMENSION = 100
ROWS = 150
BATCH = 75
LIMIT = 10
QUERIES = 4
THRESHOLD = 75


def vectors_of(count: int, seed: int):
    source = random.Random(seed)
    return [[source.gauss(0, 1) + 1 for _ in range(DIMENSION)] for _ in range(count)]


def nearest(query, data, members):
    def cosine(number):
        dot = sum(a * b for a, b in zip(query, data[number]))
        return dot / sum(a * a for a in data[number]) ** 0.5

    return sorted(members, key=cosine, reverse=True)[:LIMIT]


def search(task):
    client, filters, queries = task
    client.prepare_filter(filters)
    with client.init():
        return [client.search_embedding(query, LIMIT) for query in queries]


def recalls(client, kinds, data, queries):
    # Other processes, as in the concurrent cases: the object must survive pickling.
    tasks = [(copy.deepcopy(client), filters, queries) for filters, _ in kinds.values() for _ in range(2)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        answers = pool.map(search, tasks, chunksize=1)
    result = {}
    for i, (name, (_, members)) in enumerate(kinds.items()):
        found, again = answers[2 * i : 2 * i + 2]
        assert found == again
        assert all(number in members for ids in found for number in ids)
        shares = [
            len(set(ids) & set(nearest(query, data, members))) / LIMIT
            for query, ids in zip(queries, found)
        ]
        result[name] = sum(shares) / len(shares)
    return result


def refusal(work):
    try:
        work()
    except Exception as error:
        return str(error)
    return None


def main(url: str, key: str):
    config = TesseraConfig(url=url, api_key=SecretStr(key), project="vdb").to_dict()
    case = TesseraIndexConfig(metric_type=MetricType.COSINE, id_thresholds=f"{THRESHOLD}")
    client = Tessera(DIMENSION, config, case, drop_old=True, with_scalar_labels=True)
    data, queries = vectors_of(ROWS, 1), vectors_of(QUERIES, 2)
    labels = ["label_10p" if number % 10 == 0 else "label_90p" for number in range(ROWS)]
    inserted = 0
    with client.init():
        for first in range(0, ROWS, BATCH):
            part = slice(first, first + BATCH)
            count, error = client.insert_embeddings(
                data[part], list(range(ROWS))[part], labels_data=labels[part]
            )
            assert error is None, error
            inserted += count
        client.optimize(ROWS)
    everything = set(range(ROWS))
    kinds = {
        "all": (NonFilter(), everything),
        "threshold": (IntFilter(int_value=THRESHOLD), {n for n in everything if n >= THRESHOLD}),
        "label": (LabelFilter(label_percentage=0.1), {n for n in everything if n % 10 == 0}),
    }
    same = Tessera(DIMENSION, config, case, drop_old=False)
    again = Tessera(DIMENSION, config, case, drop_old=True)
    bad = dict(config, api_key="tsr_wrong")
    with client.init():
        too_many = refusal(lambda: client.search_embedding(queries[0], 101))
    result = {
        "inserted": inserted,
        "recall": recalls(client, kinds, data, queries),
        "projects": [client.project, same.project, again.project],
        "filters": sorted(each.value for each in Tessera.supported_filter_types),
        "refusals": {
            "threshold": refusal(lambda: client.prepare_filter(IntFilter(int_value=7))),
            "metric": refusal(TesseraIndexConfig(metric_type=MetricType.L2).index_param),
            "key": refusal(lambda: Tessera(DIMENSION, bad, case, drop_old=True)),
            "dimension": refusal(lambda: Tessera(5000, config, case)),
            "limit": too_many,
        },
        "filterOp": FilterOp.NumGE.value,
    }
    from vectordb_bench.backend.clients.tessera.cli import Tessera as command
    from vectordb_bench.cli.cli import runs

    command(db_label="x", url=url, api_key=key, project="vdb", id_thresholds="7,5")
    _, db_config, db_case_config, _ = runs[0]
    result["command"] = [db_config.to_dict()["project"], db_case_config.index_param()]
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
