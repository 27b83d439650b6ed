#!/usr/bin/env python3
"""Writes ../spec.json from the type declarations of the npm package @gramio/types: python3 spec.py node_modules/@gramio/types

Only the methods that the gateway calls are kept, and the types that stand in them and in an Update. A field is written as
"type", with "!" behind it when it is required; "[]" is a list, "|" separates alternatives."""
import json
import pathlib
import re
import sys

METHODS = """getMe getUpdates setMyCommands setWebhook deleteWebhook sendMessage editMessageText editMessageReplyMarkup
answerCallbackQuery sendChatAction""".split()
ROOTS = ["Update", "Message", "User"]
# What nothing here looks into: any object will do.
OPAQUE = re.compile(r"Business|Giveaway|Passport|Story|Boost|Gift|Background|ChatFullInfo|Checkout|Shipping|Payment|Invoice|"
                    r"Game|PaidMedia|Suggested|WebApp|VideoChat|Checklist|ChatMember|Reaction|Forum|Rich|Inline(?!Keyboard)|Community|"
                    r"Input|Poll|Managed|Subscription|Chosen|JoinRequest|Ephemeral|Login|SwitchInline|Owner|Shared|Proximity")


def declarations(text):
    """Gives the interfaces and the type aliases of a file of declarations."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    interfaces, aliases = {}, {}
    for name, body in re.findall(r"export interface (\w+)[^{]*\{(.*?)\n\}", text, re.S):
        fields = {}
        for field, optional, kind in re.findall(r"^    (\w+)(\??):\s(.+?)(?=\n    \w+\??:|\Z)", body.strip("\n"), re.S | re.M):
            fields[field] = plain(kind) + ("" if optional else "!")
        interfaces[name] = fields
    for name, body in re.findall(r"export type (\w+) =\s*(.*?)(?=\nexport |\Z)", text, re.S):
        aliases[name] = plain(body)
    return interfaces, aliases


def plain(kind):
    kind = re.sub(r"\{ toString\(\): string \}|\s", "", kind).replace("Objects.", "").replace("Telegram", "")
    kind = re.sub(r"\{toJSON\(\):\w+\}\|?", "", kind)
    kind = kind.replace('Exclude<keyofUpdate,"update_id">', "string").replace('"', "'")
    return kind.strip("|").replace("||", "|").replace("string|'", "'")


def main():
    folder = pathlib.Path(sys.argv[1]) / "out"
    objects, aliases = declarations((folder / "objects.d.ts").read_text())
    params, more = declarations((folder / "params.d.ts").read_text())
    objects = {k.removeprefix("Telegram"): v for k, v in objects.items()}
    aliases = {k.removeprefix("Telegram"): v for k, v in (aliases | more).items()}
    methods = {m: params.get(m[0].upper() + m[1:] + "Params", {}) for m in METHODS}
    kept, queue = {}, list(ROOTS)
    for fields in methods.values():
        queue += [w for kind in fields.values() for w in re.findall(r"\b[A-Z]\w+", kind)]
    while queue:
        name = queue.pop()
        if name in kept or OPAQUE.search(name):
            continue
        kept[name] = objects.get(name) or aliases.get(name)
        if kept[name] is None:
            del kept[name]
            continue
        kinds = kept[name].values() if isinstance(kept[name], dict) else [kept[name]]
        queue += [w for kind in kinds for w in re.findall(r"\b[A-Z]\w+", kind)]
    version = re.search(r"Bot API v([\d.]+)", (folder / "objects.d.ts").read_text())[1]
    spec = {"source": "npm @gramio/types " + json.loads((folder.parent / "package.json").read_text())["version"],
            "licence": "MIT, see spec.LICENSE", "api": version, "methods": methods, "types": dict(sorted(kept.items()))}
    pathlib.Path(__file__).parent.parent.joinpath("spec.json").write_text(json.dumps(spec, indent=0) + "\n")


main()
