# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what bondctl prints with -j against its schema in docs/json. Every suite may use it."""
import functools
import json

from built import ROOT

SCHEMAS = ROOT / "docs/json"


# Modules are imported here where they are needed: that takes a while, and many tests need none.


def read(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def modes():
    """The names of all modes, in the order of their numbers."""
    return read("show")["definitions"]["bond"]["properties"]["mode"]["enum"]


@functools.cache
def validator(name):
    """It names all errors."""
    import jsonschema

    jsonschema.Draft7Validator.check_schema(read(name))
    return jsonschema.Draft7Validator(read(name))


@functools.cache
def is_valid(name):
    """A function that takes a tenth of the time. It is always False where the module is missing."""
    try:
        import fastjsonschema
    except ImportError:
        return lambda value: False
    passes = fastjsonschema.compile(read(name))

    def checked(value):
        try:
            passes(value)
        except fastjsonschema.JsonSchemaException:
            return False
        return True
    return checked


def check(name, value):
    """Returns the value. Fails unless it is as docs/json/NAME.schema.json says."""
    if is_valid(name)(value):
        return value
    errors = [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]
    assert not errors, f"not as {name}.schema.json says:\n" + "\n".join(errors)
    return value
