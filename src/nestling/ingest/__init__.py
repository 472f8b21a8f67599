"""From files and values to documents, parents and children."""
