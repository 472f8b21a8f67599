"""Parent-document retrieval: search small, answer big."""
