"""Evaluations on disk: question sets, facts, runs in progress, judgements."""
