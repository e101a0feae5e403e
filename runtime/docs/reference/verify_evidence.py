#!/usr/bin/env python3
"""Verifies evidence of Keyway, without Keyway: Python 3.8 or later and its standard library.

    python3 verify_evidence.py keyway-review-ID.jsonl --key FINGERPRINT

The form is described in evidence.md beside this file. Exits with 0 where the evidence fits, with 1 where it is refused.
"""
import argparse
import base64
import hashlib
import json
import os
import re
import sys

FORM = "keyway-evidence-1"
MAX_LINE = 8 * 1024 * 1024
SEAL_BEGINS = ('{"form":"%s","kind":"seal",' % FORM).encode()
TAIL = re.compile(rb',"sha256":"([0-9a-f]{64})"\}')
SUBJECTS = ["review", "offboarding", "access"]
KINDS = SUBJECTS + ["person", "group", "app", "reviewers", "notification", "act", "chain", "item", "step", "held", "upload", "log", "page"]
PAGE_BEGINS = tuple(
    f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
    'content="default-src \'none\'; style-src \'unsafe-inline\'"><meta name="viewport" content="width=device-width">'
    for language in ("en", "de")
)
SPKI = bytes.fromhex("302a300506032b6570032100")
LED_TO = {
    None: {"OPEN", "NOT_DECIDED", "VANISHED"},
    "KEEP": {"KEPT"},
    "REJECT": {"REJECTED", "REMOVING", "REMOVED", "WAITING_FOR_HANDS", "EXCEPTED", "TO_MODIFY"},
    "MODIFY": {"TO_MODIFY"},
}
UNCONFIRMED = {"TO_CONFIRM", "NOT_DECIDED", "VANISHED"}


class Refused(Exception):
    """What a file is refused for."""


# Ed25519 (RFC 8032, section 5.1.7), with points as (X, Y, Z, T).
P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    c, d = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    e, f = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    x, y, z, t = d - c, f - e, f + e, d + c
    return (x * y % P, z * t % P, y * z % P, x * t % P)


def times(number, point):
    result = (0, 1, 1, 0)
    while number > 0:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def point_of(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signature(public_key, message, signature):
    key, r, s = point_of(public_key), point_of(signature[:32]), int.from_bytes(signature[32:], "little")
    if key is None or r is None or s >= Q:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % Q
    left, right = times(s, BASE), add(r, times(h, key))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def shown(value):
    return "null" if value is None else str(value)


def number_of(*parts):
    return int(sha256("\n".join(map(shown, parts)).encode()), 16)


class Check:
    """What the lines must say together."""

    def __init__(self):
        self.problems, self.states, self.apps = [], {}, {}
        self.rank = self.items = self.acts = self.entries = self.waiting = self.place = 0
        self.decided = self.told = self.removed = self.read = self.attached = self.uploads = 0
        self.review, self.chain, self.about = {}, {}, None
        self.steps = self.left = self.held = self.parts = self.page_bytes = 0
        self.page, self.page_whole, self.html = hashlib.sha256(), False, []

    def wrong(self, words):
        if len(self.problems) < 20:
            self.problems.append(words)

    def take(self, line):
        kind = line.get("kind")
        rank = KINDS.index(kind) if kind in KINDS else -1
        if rank < self.rank or (kind in SUBJECTS) != (line["n"] == 1):
            self.wrong("line %s of the kind %s does not belong there" % (line["n"], kind))
        self.rank = max(self.rank, rank)
        try:
            getattr(self, "take_%s" % kind, lambda _: None)(line)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.wrong("line %s is not as its kind is" % line["n"])

    def take_review(self, line):
        self.review, self.about = line, line["kind"]

    take_offboarding = take_access = take_review

    def take_step(self, line):
        self.steps += 1
        self.left += line["state"] != "done"

    def take_held(self, _):
        self.held += 1

    def take_page(self, line):
        self.parts += 1
        if line["part"] != self.parts or self.page_whole:
            self.wrong("line %s is not the expected part of the page" % line["n"])
            return
        if self.parts == 1 and not line["content"].startswith(PAGE_BEGINS):
            self.wrong("line %s starts a page that does not block scripts and external resources" % line["n"])
        data = line["content"].encode()
        self.page.update(data)
        self.page_bytes += len(data)
        self.html.append(line["content"])
        if "digest" not in line:
            return
        self.page_whole = True
        if line["digest"] != self.page.hexdigest() or line["bytes"] != self.page_bytes:
            self.wrong("line %s ends a page that differs from the one that was created" % line["n"])

    def take_chain(self, line):
        self.chain = line

    def take_app(self, line):
        self.apps[line["arda_id"]] = {"line": line, "items": 0, "logged": False}
        population = line["population"]
        if population is None:
            return
        total = population["items"] + population["left_out"] + sum(population["excluded"].values())
        if total != population["synced"]:
            self.wrong("the population of %s does not add up: %s of %s" % (line["name"], total, population["synced"]))

    def take_act(self, line):
        self.acts += 1
        self.decided += line["items"] * number_of(line["id"], line["decision"], line["by_id"], line["at"])
        self.told += number_of(line["id"], line["decision"], line["items"])

    def take_item(self, line):
        self.items += 1
        state = line["state"]
        self.states[state] = self.states.get(state, 0) + 1
        if line["arda_id"] in self.apps:
            self.apps[line["arda_id"]]["items"] += 1
        else:
            self.wrong("line %s belongs to an app that is missing from the evidence" % line["n"])
        if not line["place"] > self.place:
            self.wrong("line %s is out of order" % line["n"])
        self.place = line["place"]
        last, keepers = None, []
        for one in line["decisions"]:
            last = one["decision"]
            if last == "KEEP":
                keepers.append(one["by_id"])
            self.decided -= number_of(one["act"], last, one["by_id"], one["at"])
        app = self.apps.get(line["arda_id"], {"line": {}})["line"]
        red = any(hint["red"] for hint in line.get("hints", ()))
        second = last == "KEEP" and red and app.get("second_reviewers") is not None
        if second and len(keepers) > 1 and keepers[0] == keepers[-1]:
            self.wrong("line %s was confirmed by the person who first kept it" % line["n"])
        led = UNCONFIRMED if second and len(keepers) == 1 else LED_TO.get(last, ())
        if state not in led:
            self.wrong("line %s is %s, which does not follow from its last decision (%s)" % (line["n"], state, last or "none"))
        if state != "REMOVED":
            return
        if line["gone_at"] is None:
            self.wrong("line %s is REMOVED without a check of the system" % line["n"])
        if line["gone_run"] is None:
            self.removed += number_of(line["id"])
            last = (line.get("readings") or [{}])[-1]
            if last.get("shown") is True:
                self.wrong("line %s is REMOVED, but the last check of the system still shows it" % line["n"])
            if last.get("call_id"):
                self.read += number_of(line["id"], last["call_id"])

    def take_upload(self, line):
        self.uploads += 1
        self.attached += number_of(line["id"], line["digest"])
        if line["content"] is None:
            return
        data = base64.b64decode(line["content"], validate=True)
        if sha256(data) != line["digest"] or len(data) != line["bytes"]:
            self.wrong("line %s is not the file that was attached" % line["n"])

    def take_log(self, line):
        self.entries += 1
        if line["hash"] is None:
            self.waiting += 1
        else:
            whole = '["%s",%s,%s]' % (line["before"], line["body"], json.dumps(line["began_at"]))
            if not line.get("redacted") and hashlib.sha512(whole.encode()).hexdigest() != line["hash"]:
                self.wrong("line %s is not an entry of the log: its hash belongs to another text" % line["n"])
        _, kind, _, _, _, about = json.loads("[%s]" % line["body"])
        if kind == "ACCESS_REVIEW_DECIDED":
            self.told -= number_of(about["act_id"], about["decision"], about["items"])
        if kind == "ACCESS_REVIEW_ITEM_REMOVED":
            self.removed -= number_of(about["item_id"])
            if about.get("call_id"):
                self.read -= number_of(about["item_id"], about["call_id"])
        if kind == "ACCESS_REVIEW_EVIDENCE_UPLOADED":
            self.attached -= number_of(about["upload_id"], about["digest"])
        if kind == "ACCESS_REVIEW_APP_LAUNCHED" and about["arda_id"] in self.apps:
            app = self.apps[about["arda_id"]]
            app["logged"] = True
            if about.get("second_reviewers") != app["line"].get("second_reviewers"):
                self.wrong("the confirmers of lines of %s differ from the log" % app["line"]["name"])
            pairs = [(one, one) for one in ("run", "at", "synced", "items")]
            for there, here in pairs + [("connectorDigest", "connector_digest"), ("leftOut", "left_out")]:
                if about["population"][there] != app["line"]["population"][here]:
                    self.wrong("the population of %s differs from the log: %s" % (app["line"]["name"], here))

    def end(self):
        for app in self.apps.values():
            population = app["line"]["population"]
            wanted = 0 if population is None else population["items"]
            if app["items"] != wanted:
                self.wrong("%s has %s lines, and its population %s" % (app["line"]["name"], app["items"], wanted))
        if self.decided != 0:
            self.wrong("the decisions on lines differ from those of the acts")
        of = self.review[self.about]
        kept_from = self.chain.get("kept_from")
        gap = kept_from is not None and "created_at" in of and kept_from >= of["created_at"]
        if not gap:
            if self.told != 0:
                self.wrong("the acts differ from those in the log")
            if self.removed != 0:
                self.wrong("the removals differ from those in the log")
            if self.read != 0:
                self.wrong("the last checks of removed access differ from those in the log")
            if self.attached != 0:
                self.wrong("the files differ from those in the log")
            for app in self.apps.values():
                if app["line"]["launched_at"] is not None and not app["logged"]:
                    self.wrong("the log does not have the launch of %s" % app["line"]["name"])
        steps = of["steps"] if self.about == "offboarding" else 0
        held = of["held"] if self.about == "access" else 0
        if self.steps != steps:
            self.wrong("it has %s accounts, and its first line says %s" % (self.steps, steps))
        if self.held != held:
            self.wrong("it has %s lines of access, and its first line says %s" % (self.held, held))
        if self.about == "offboarding" and of["status"] == "COMPLETED" and self.left:
            self.wrong("%s accounts of an offboarding that is COMPLETED are not done" % self.left)
        if self.parts and not self.page_whole:
            self.wrong("its page is incomplete")
        if self.problems:
            raise Refused("it is sealed, but inconsistent: %s" % "; ".join(self.problems))
        return gap


def record_of(line, n):
    tail = TAIL.fullmatch(line[-77:])
    text = line[:-77] + b"}"
    try:
        if tail is None or sha256(text) != tail.group(1).decode():
            raise ValueError
        record = json.loads(text)
        if not isinstance(record, dict):
            raise ValueError
    except ValueError:
        raise Refused("line 1 was changed, or it is not evidence of the form %s" % FORM if n == 1 else "line %d was changed" % n)
    if n == 1 and record.get("form") != FORM:
        raise Refused("it is not evidence of the form %s" % FORM)
    return record


def misplaced(wanted, found, rest):
    for line in rest:
        number = re.search(rb',"n":([0-9]+),', line)
        if number and int(number.group(1)) == wanted:
            return Refused("its lines are out of order: line %s is where line %d belongs" % (found, wanted))
    return Refused("line %d is missing: line %s is in its place" % (wanted, found))


def judge_seal(text, lines, whole, trusted):
    digits = {"public_key": 64, "sha256": 64, "signature": 128}
    try:
        seal = json.loads(text)
        good = json.dumps(seal, separators=(",", ":"), sort_keys=True).encode() == text
        good = good and set(seal) == {"form", "kind", "lines", *digits} and type(seal["lines"]) is int
        good = good and all(re.fullmatch("[0-9a-f]{%d}" % size, seal[name]) for name, size in digits.items())
    except (ValueError, TypeError):
        good = False
    if not good:
        raise Refused("its seal was changed")
    if seal["lines"] < lines:
        raise Refused("its seal belongs to another file: it has %d lines, and its seal says %d" % (lines, seal["lines"]))
    if seal["lines"] != lines:
        raise Refused("it is cut: it has %d lines, and its seal says %d" % (lines, seal["lines"]))
    key = bytes.fromhex(seal["public_key"])
    fingerprint = sha256(SPKI + key)
    if trusted not in (fingerprint, seal["public_key"]):
        raise Refused("it is signed by another key: its fingerprint is %s, not %s" % (fingerprint, trusted))
    if seal["sha256"] != whole:
        raise Refused("its seal belongs to another text: lines were changed together with their digests")
    signed = "%s\n%d\n%s\n%s\n" % (FORM, lines, whole, seal["public_key"])
    if not is_signature(key, signed.encode(), bytes.fromhex(seal["signature"])):
        raise Refused("its signature was not made by this key: the seal was changed")


def lines_of(file):
    while True:
        line = file.readline(MAX_LINE + 1)
        if len(line) > MAX_LINE:
            raise Refused("a line is longer than evidence allows")
        if not line:
            return
        yield line


def verify(lines, trusted, html=None):
    """Refuses, or answers what the evidence says. `lines` are bytes, each with its end; the page is added to `html`."""
    check, whole, n, seal = Check(), hashlib.sha256(), 0, None
    lines = iter(lines)
    for line in lines:
        if seal is not None:
            raise Refused("it has data after its seal")
        if not line.endswith(b"\n"):
            raise Refused("it is cut: it ends in the middle of line %d" % (n + 1))
        if line.startswith(SEAL_BEGINS):
            seal = line[:-1]
            continue
        n += 1
        record = record_of(line[:-1], n)
        if record.get("n") != n:
            raise misplaced(n, record.get("n"), lines)
        whole.update(line)
        check.take(record)
    if seal is None:
        raise Refused("it is cut: it ends after line %d, without its seal" % n)
    judge_seal(seal, n, whole.hexdigest(), trusted)
    gap = check.end()
    if html is not None:
        html.extend(check.html)
    review = check.review[check.about]
    return {
        "about": check.about,
        "review": {name: review[name] for name in ("id", "name", "status")},
        "taken_at": check.review["taken_at"],
        "as_of": review.get("as_of"),
        "final": check.review["final"],
        "apps": len(check.apps),
        "items": check.items,
        "states": check.states,
        "acts": check.acts,
        "steps": check.steps,
        "held": check.held,
        "page": check.parts > 0,
        "log_entries": check.entries,
        "not_chained": check.waiting,
        "log_head": check.chain["head"],
        # Of an offboarding, or of access, the log is taken along and says nothing that the other lines repeat.
        "log_compared": check.about == "review" and not gap,
    }


def main():
    parser = argparse.ArgumentParser(description="Verifies evidence of Keyway.")
    parser.add_argument("file")
    parser.add_argument("--key", required=True, help="fingerprint of the installation's key, or the key, as 64 hex digits")
    parser.add_argument("--page", help="file to write the page into that people read, once the evidence is good")
    given = parser.parse_args()
    if given.page is not None and os.path.exists(given.page):
        sys.exit("%s already exists; name another with --page" % given.page)
    html = []
    try:
        with open(given.file, "rb") as file:
            said = verify(lines_of(file), given.key.lower(), html)
    except Refused as refused:
        sys.exit("%s is refused: %s" % (given.file, refused))
    except OSError as error:
        sys.exit("%s cannot be read: %s" % (given.file, error.strerror))
    if given.page is not None:
        write_page(given.file, given.page, html)
    print(json.dumps(said, indent=2, ensure_ascii=False))


def write_page(evidence, path, html):
    if not html:
        sys.exit("%s has no page to read" % evidence)
    try:
        with open(path, "x", encoding="utf-8", newline="") as page:
            page.write("".join(html))
    except OSError as error:
        sys.exit("%s cannot be written: %s" % (path, error.strerror))


if __name__ == "__main__":
    main()
