"""Corpora on disk: lines, tables, documents, and the dates in their fields."""
