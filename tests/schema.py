# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what bondctl prints with -j against its schema in docs/json. Every suite may use it."""
import functools
import json

from built import ROOT

SCHEMAS = ROOT / "docs/json"


@functools.cache
def validator(name):
    import jsonschema  # here, because that takes a while, and many tests do not need it

    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def check(name, value):
    """Returns the value. Fails unless it is as docs/json/NAME.schema.json says."""
    errors = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]
    assert not errors, f"not as {name}.schema.json says:\n" + "\n".join(errors)
    return value
