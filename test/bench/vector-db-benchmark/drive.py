"""Drives the engine as vector-db-benchmark does, and prints what it has found as JSON."""

import json
import random
import sys

from benchmark.dataset import Dataset, DatasetConfig
from dataset_reader.base_reader import Query, Record
from engine.clients.tessera import TesseraConfigurator, TesseraSearcher, TesseraUploader

DIMENSION = 100
ROWS = 120
LIMIT = 10


def vectors_of(count: int, seed: int):
    source = random.Random(seed)
    return [[source.gauss(0, 1) + 1 for _ in range(DIMENSION)] for _ in range(count)]


def nearest(query, data):
    def cosine(number):
        dot = sum(a * b for a, b in zip(query, data[number]))
        return dot / sum(a * a for a in data[number]) ** 0.5

    return sorted(range(ROWS), key=cosine, reverse=True)[:LIMIT]


def refusal(work):
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main(host: str):
    data = vectors_of(ROWS, 1)
    queries = [Query(query, None, nearest(query, data)) for query in vectors_of(6, 2)]
    records = [Record(number, vector) for number, vector in enumerate(data)]
    dataset = Dataset(DatasetConfig("stand-in", DIMENSION, "cosine"))
    precisions = {}
    for parallel in (1, 2):
        TesseraConfigurator(host, {}, {}).configure(dataset)
        uploader = TesseraUploader(host, {}, {"parallel": parallel, "batch_size": ROWS // parallel})
        uploader.upload("cosine", records)
        uploader.delete_client()
        searcher = TesseraSearcher(host, {}, {"parallel": parallel})
        precisions[parallel] = searcher.search_all("cosine", queries)["mean_precisions"]
        searcher.delete_client()
    euclidean = Dataset(DatasetConfig("stand-in", DIMENSION, "l2"))
    filtered = Query(data[0], {"and": []}, [0])
    print(
        json.dumps(
            {
                "precisions": precisions,
                "refusals": {
                    "distance": refusal(lambda: TesseraConfigurator(host, {}, {}).configure(euclidean)),
                    "sparse": refusal(lambda: TesseraUploader.upload_batch([Record(1, None)])),
                    "conditions": refusal(lambda: TesseraSearcher.search_one(filtered, 1)),
                },
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
