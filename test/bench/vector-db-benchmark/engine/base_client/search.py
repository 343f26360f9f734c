from multiprocessing import get_context


class BaseSearcher:
    def __init__(self, host, connection_params, search_params):
        self.host = host
        self.connection_params = connection_params
        self.search_params = search_params

    @classmethod
    def get_mp_start_method(cls):
        return "spawn"

    @classmethod
    def init_client(cls, host, distance, connection_params: dict, search_params: dict):
        raise NotImplementedError()

    @classmethod
    def search_one(cls, query, top):
        raise NotImplementedError()

    @classmethod
    def _search_one(cls, query):
        top = len(query.expected_result)
        found = {number for number, _ in cls.search_one(query, top)}
        return len(found & set(query.expected_result)) / top

    def search_all(self, distance, queries) -> dict:
        parallel = self.search_params.get("parallel", 1)
        arguments = (self.host, distance, self.connection_params, self.search_params)
        self.setup_search()
        if parallel == 1:
            self.init_client(*arguments)
            precisions = [self._search_one(query) for query in queries]
        else:
            context = get_context(self.get_mp_start_method())
            with context.Pool(parallel, self.__class__.init_client, arguments) as pool:
                precisions = list(pool.imap_unordered(self.__class__._search_one, queries))
        return {"mean_precisions": sum(precisions) / len(precisions)}

    def setup_search(self):
        pass

    @classmethod
    def delete_client(cls):
        pass
