"""What measuring rests on: runs of tokens, resampling by fact, agreement of annotators."""
