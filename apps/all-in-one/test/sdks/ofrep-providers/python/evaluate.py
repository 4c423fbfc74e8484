"""Evaluates the cases on standard input with OpenFeature's provider for Python, and writes their values to standard output."""

import json
import os
import sys

from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext

token = os.environ["OFREP_TOKEN"]
api.set_provider(OFREPProvider(os.environ["OFREP_URL"], headers_factory=lambda: {"Authorization": f"Bearer {token}"}))
client = api.get_client()
evaluate = {
    "boolean": lambda *case: client.get_boolean_details(case[0], False, case[1]),
    "string": lambda *case: client.get_string_details(case[0], "", case[1]),
    "integer": lambda *case: client.get_integer_details(case[0], 0, case[1]),
    "number": lambda *case: client.get_float_details(case[0], 0.0, case[1]),
    "object": lambda *case: client.get_object_details(case[0], {}, case[1]),
}


def value_of(case):
    details = evaluate[case["type"]](case["key"], EvaluationContext(case["user"]))
    if details.error_code is not None:
        sys.exit(f"{case['key']} for {case['user']}: {details.error_code} {details.error_message}")
    return details.value


json.dump([value_of(case) for case in json.load(sys.stdin)], sys.stdout)
