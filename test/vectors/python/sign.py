"""Signs the cards of cards.json with the `a2a-sdk` that is installed, and writes signed-<its version>.json.

    python3 -m venv venv
    venv/bin/pip install 'a2a-sdk[signing]==1.0.3'    # the profile python-1: json.dumps
    venv/bin/python sign.py
    venv/bin/pip install 'a2a-sdk[signing]==1.3.0'    # since 1.1.4: RFC 8785, the profile js-1
    venv/bin/python sign.py

Then `pnpm generate:vectors`. ECDSA signs differently each time, so run this only when cards.json has changed.
"""

import importlib.metadata
import json
import pathlib

from a2a.types import AgentCard
from a2a.utils import signing
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt import PyJWK

HERE = pathlib.Path(__file__).parent
KEYS = {key['kid']: key for key in json.loads((HERE / '../keys.json').read_text())['keys']}


def sign(request: dict) -> dict:
    """The signature by the SDK, and the payload that it has signed."""
    header = request['header']
    key = PyJWK(KEYS[header['kid']], algorithm=header['alg'])
    signer = signing.create_agent_card_signer(key, header)
    card = ParseDict(request['card'], AgentCard(), ignore_unknown_fields=True)
    payload = signing._canonicalize_agent_card(card)
    signed = signer(card)
    signing.create_signature_verifier(lambda kid, jku: key, [header['alg']])(signed)
    return {'signature': MessageToDict(signed)['signatures'][0], 'payload': payload}


def main() -> None:
    versions = {name: importlib.metadata.version(name) for name in ('a2a-sdk', 'protobuf', 'PyJWT')}
    requests = json.loads((HERE / 'cards.json').read_text())
    cards = {name: sign(request) for name, request in requests.items()}
    text = json.dumps({'versions': versions, 'cards': cards}, indent=2)
    (HERE / f'signed-{versions["a2a-sdk"]}.json').write_text(text + '\n')


main()
