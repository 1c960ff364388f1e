"""What answers are made of: quoted passages, replies read, claims held against passages, timelines."""
