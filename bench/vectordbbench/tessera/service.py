"""One project of a Tessera service, over HTTP, with the standard library alone."""

import array
import base64
import http.client
import json
import time
import urllib.parse

# Searches and imports have these dimensions. Shorter vectors are filled up with zeros, which changes no cosine.
DIMENSIONS = (768, 1024, 1536, 3072, 4096)
LIMIT_MAX = 100
CHUNKS_PER_FILE = 100
RETRIES_MAX = 30
POLL_SECONDS = 0.5


class ServiceError(Exception):
    """The service has refused a request, or is not there."""


def padded(vector, dimension: int) -> bytes:
    """The vector as little-endian float32, filled up to the dimension."""
    floats = array.array("f", vector)
    floats.extend([0.0] * (dimension - len(floats)))
    if array.array("i", [1]).tobytes()[0] == 0:
        floats.byteswap()
    return floats.tobytes()


def dimension_for(length: int) -> int:
    for dimension in DIMENSIONS:
        if length <= dimension:
            return dimension
    raise ValueError(f"Tessera has no index for vectors of {length} elements; the most is {DIMENSIONS[-1]}")


class Service:
    """Not safe for several threads: each needs its own."""

    def __init__(self, url: str, api_key: str, dim: int, timeout: float = 300):
        self.url = urllib.parse.urlsplit(url.rstrip("/"))
        self.headers = {"X-API-Key": api_key}
        self.dimension = dimension_for(dim)
        self.timeout = timeout
        self.connection = None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _send(self, method: str, path: str, body, content_type):
        headers = dict(self.headers)
        if content_type is not None:
            headers["Content-Type"] = content_type
        for attempt in (1, 2):
            if self.connection is None:
                secure = self.url.scheme == "https"
                kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
                self.connection = kind(self.url.hostname, self.url.port, timeout=self.timeout)
            try:
                self.connection.request(method, self.url.path + path, body, headers)
                response = self.connection.getresponse()
                return response, response.read()
            except (http.client.HTTPException, OSError) as error:
                # The server may have closed an idle connection. All requests here can be repeated.
                self.close()
                if attempt == 2:
                    raise ServiceError(f"{self.url.geturl()} does not answer: {error}") from error

    def request(self, method: str, path: str, body=None, content_type=None):
        """The parsed answer. Waits while the service is overloaded."""
        for _ in range(RETRIES_MAX):
            response, content = self._send(method, path, body, content_type)
            if response.status != 503:
                break
            time.sleep(float(response.headers.get("Retry-After", "1")))
        if response.status >= 300:
            try:
                detail = json.loads(content).get("detail", "")
            except ValueError:
                detail = content[:200]
            raise ServiceError(f"{method} {path} was answered {response.status}: {detail}")
        return json.loads(content)

    def exists(self, project: str) -> bool:
        """Whether the key's user sees the project."""
        response, _ = self._send("GET", f"/projects/{project}", None, None)
        if response.status not in (200, 404):
            raise ServiceError(f"reading {project} was answered {response.status}")
        return response.status == 200

    def newest(self, name: str) -> int:
        """The highest number of the projects `name-1`, `name-2` and so on; 0 when there is none."""
        number = 0
        while self.exists(f"{name}-{number + 1}"):
            number += 1
        return number

    def create(self, slug: str) -> None:
        body = json.dumps({"name": slug, "slug": slug})
        self.request("POST", "/projects", body, "application/json")

    def import_records(self, project: str, records) -> None:
        body = "".join(json.dumps(record) + "\n" for record in records)
        answer = self.request("POST", f"/projects/{project}/import", body, "application/x-ndjson")
        if answer["refused"] > 0:
            raise ServiceError(f"{answer['refused']} lines were refused: {answer['errors'][0]['message']}")

    def insert(self, project: str, ids, vectors, scopes_of) -> None:
        """
        Imports vectors. Their ids are the contents of their chunks. `scopes_of(i)` names the environments
        of the i-th vector; vectors of the same ones share files.
        """
        groups = {}
        for i, number in enumerate(ids):
            groups.setdefault(tuple(scopes_of(i)), []).append((int(number), vectors[i]))
        environments = sorted({name for scopes in groups for name in scopes})
        records = [{"record": "environment", "name": name} for name in environments]
        for scopes, members in groups.items():
            for first in range(0, len(members), CHUNKS_PER_FILE):
                part = members[first : first + CHUNKS_PER_FILE]
                chunks = [
                    {
                        "content": str(number),
                        "embedding": base64.b64encode(padded(vector, self.dimension)).decode(),
                    }
                    for number, vector in part
                ]
                path = f"vectors/{part[0][0]:012d}.md"
                records.append(
                    {"record": "file", "path": path, "environments": list(scopes), "chunks": chunks}
                )
        self.import_records(project, records)

    def freeze(self, project: str) -> None:
        """Makes a release of the same name from each environment that has none yet."""
        state = self.request("GET", f"/projects/{project}")
        existing = {release["name"] for release in state["releases"]}
        names = [each["name"] for each in state["environments"] if each["name"] not in existing]
        self.import_records(
            project, [{"record": "release", "name": name, "environment": name} for name in names]
        )

    def wait_until_complete(self, project: str, timeout: float = 24 * 3600) -> None:
        """Waits until all changes are applied, and all graphs are built and calibrated."""
        deadline = time.monotonic() + timeout
        while True:
            state = self.request("GET", f"/projects/{project}/index-state")
            if state["complete"]:
                return
            if time.monotonic() > deadline:
                raise ServiceError(f"the index of {project} is not complete after {timeout} s")
            time.sleep(POLL_SECONDS)

    def search(self, project: str, release: str, vector, limit: int):
        """The ids and cosines of the nearest vectors of a release, the nearest first."""
        if limit > LIMIT_MAX:
            raise ValueError(f"Tessera returns at most {LIMIT_MAX} results, not {limit}")
        query = f"dimension={self.dimension}&limit={limit}&threshold=0"
        name = urllib.parse.quote(release, safe="")
        path = f"/projects/{project}/releases/{name}/search?{query}"
        body = padded(vector, self.dimension)
        answer = self.request("POST", path, body, "application/octet-stream")
        return [(int(hit["chunk"]["content"]), hit["score"]) for hit in answer["data"]]
