"""What OpenAPI says of the server."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from nestling.apps.server import questions, schemas

BODIES = (
    *(questions.Search, questions.Pack, questions.Ask, questions.Verify, questions.Evaluate),
    *(questions.Compare, questions.Put, questions.Remove),
)


def describe(app: FastAPI) -> dict[str, Any]:
    """The description of an app, with the bodies that its routes read themselves."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        named = schema["components"]["schemas"]
        for body in BODIES:
            described = named[body.__name__] = body.model_json_schema()
            if "where" in described["properties"]:
                described["properties"]["where"] = schemas.FILTER
        evaluation = {"$ref": "#/components/schemas/Evaluation"}
        named["Compare"]["properties"] |= {"a": evaluation, "b": evaluation}
        named |= {"Where": schemas.WHERE, "Card": schemas.CARD, "Lines": schemas.LINES}
        listing = [schema["paths"][path]["get"] for path in ("/v1/documents", "/v1/metadata")]
        for parameter in [each for route in listing for each in route["parameters"]]:
            if parameter["name"] == "where":
                # text that is JSON
                del parameter["schema"]
                parameter["content"] = {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Where"}}
                }
        schema["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"key": []}, {}]
        app.openapi_schema = schema
    return app.openapi_schema
