"""How a question tells its time: wordings, first and last, asked dates, well-known periods, a model's claims."""
