"""What contrast sets are made of: dated facts, what they prove, and how a person would ask."""
