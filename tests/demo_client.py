"""Requests to the demo's application, without a server."""

import base64
import json

PREDICT = "/v1/models/model:predict"


def post(client, request):
    body = request if isinstance(request, (bytes, str)) else json.dumps(request)
    return client.post(PREDICT, data=body)


def outputs(client, name, inputs, *wanted):
    request = {"signature_name": name, "inputs": inputs}
    response = post(client, {**request, "output_filter": list(wanted)})
    assert response.status_code == 200, response.text
    return response.json["outputs"]


def b64(content):
    return base64.b64encode(content).decode()
