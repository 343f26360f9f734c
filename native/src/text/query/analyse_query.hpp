// The words of a query, as far as they do not depend on documents.
#pragma once
#include <string_view>

#include "text/query/unspaced_words.hpp"
#include "text/segment/text_query.hpp"

namespace tessera {

/// @param breaks where a dictionary cuts the query; it is called only for a query in scripts without spaces
AnalysedQuery analyseQuery(std::u16string_view query, const WordBreaks& breaks);

}  // namespace tessera
