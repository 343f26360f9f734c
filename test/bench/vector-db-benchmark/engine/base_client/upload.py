from multiprocessing import get_context


def batches(records, size):
    for first in range(0, len(records), size):
        yield records[first : first + size]


class BaseUploader:
    client = None

    def __init__(self, host, connection_params, upload_params):
        self.host = host
        self.connection_params = connection_params
        self.upload_params = upload_params

    @classmethod
    def get_mp_start_method(cls):
        return "spawn"

    @classmethod
    def init_client(cls, host, distance, connection_params: dict, upload_params: dict):
        raise NotImplementedError()

    def upload(self, distance, records) -> dict:
        parallel = self.upload_params.get("parallel", 1)
        parts = batches(records, self.upload_params.get("batch_size", 64))
        arguments = (self.host, distance, self.connection_params, self.upload_params)
        if parallel == 1:
            self.init_client(*arguments)
            for part in parts:
                self.upload_batch(part)
        else:
            context = get_context(self.get_mp_start_method())
            with context.Pool(parallel, self.__class__.init_client, arguments) as pool:
                list(pool.imap(self.__class__.upload_batch, parts))
        return self.post_upload(distance)

    @classmethod
    def post_upload(cls, distance):
        return {}

    @classmethod
    def upload_batch(cls, batch):
        raise NotImplementedError()

    @classmethod
    def delete_client(cls):
        pass
