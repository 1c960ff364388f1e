"""Model servers over HTTP: requests, settings and keys, the shapes of their answers, kept replies."""
