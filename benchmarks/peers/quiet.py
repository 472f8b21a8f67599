"""Import before any peer: their telemetry off, and their loggers silent."""

import logging
import os
import warnings

os.environ |= {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
