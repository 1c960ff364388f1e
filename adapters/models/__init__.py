"""Models on disk: names and the cache, folders and weights, ONNX sessions, tokens and pooling."""
