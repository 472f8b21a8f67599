"""The page in a browser: one package, so that the browser is closed before other tests run."""
