"""The HTTP server: see docs/http.md."""
