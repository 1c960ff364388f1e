"""The folder of an index: its files and generations, its vectors, and what finds passages by them."""
