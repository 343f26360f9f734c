class Distance:
    COSINE = "cosine"
    L2 = "l2"
    DOT = "dot"
