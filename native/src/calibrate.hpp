// How many candidates a graph search must keep for the data at hand.
#pragma once
#include <cstdint>

namespace tessera {

class Index;
class Sketch;

/// Measures the recall of graph searches near a sample of the vectors, and returns the smallest
/// expansion that reaches the target. The same data gives the same answer.
uint32_t measureExpansion(const Index& index, const Sketch& sketch);

}  // namespace tessera
