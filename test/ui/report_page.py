#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges a report: report_page.py REPORT [DUMP.json DIAGNOSIS.json]

It is a whole page that needs nothing from outside, can be read aloud, and has the
documents and the numbers of --dump=json and --diagnose=json. Prints "ok ..." or
"not ok ..." for each check."""
import base64
import hashlib
import html.parser
import json
import re
import sys

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.tags = [], [], []
        self.texts, self.rows, self.cell = {}, {}, None
        self.section = None
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(self.open)

    def handle_starttag(self, tag, attrs, closed=False):
        attrs = dict(attrs)
        self.tags.append((tag, attrs, tuple(self.open)))
        if tag == "section":
            self.section = attrs["aria-labelledby"]
        if tag == "tr":
            self.rows.setdefault(self.section, []).append([])
        if tag in ("td", "th"):
            self.rows[self.section][-1].append("")
        if tag not in VOID and not closed:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs, True)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style"):
            name = next(a for t, a, _ in reversed(self.tags)
                        if t == self.open[-1]).get("id", "style")
            self.texts[name] = self.texts.get(name, "") + data
        elif "td" in self.open or "th" in self.open:
            self.rows[self.section][-1][-1] += data


failed = False


def check(what, holds, *seen):
    global failed
    print("ok" if holds else "not ok", what)
    if not holds:
        print(" ", *seen)
        failed = True


text = open(sys.argv[1], encoding="utf-8").read()
page = Page(text)
check("all elements are closed, in order", not page.wrong, page.wrong)
ids = [a["id"] for _, a, _ in page.tags if "id" in a]
check("ids are there once", len(ids) == len(set(ids)), ids)
named = [word for _, a, _ in page.tags
         for word in a.get("aria-labelledby", "").split()]
check("and those that name something are there", set(named) <= set(ids), named)
check("there are no control characters",
      not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text))
check("it is below 2 MB", len(text.encode()) < 2e6, len(text))

policy = [a["content"] for t, a, _ in page.tags
          if a.get("http-equiv") == "Content-Security-Policy"]
digest = base64.b64encode(
    hashlib.sha256(page.texts["style"].encode()).digest()).decode()
check("a policy allows nothing from outside, and the one style", policy == [
    "default-src 'none'; style-src 'sha256-%s'; base-uri 'none';"
    " form-action 'none'" % digest], policy, digest)
check("scripts are data only",
      [a for t, a, _ in page.tags if t == "script"] ==
      [{"type": "application/json", "id": name}
       for name in ("dump", "diagnosis")])
check("no element refers to another file, has a style or runs something", not [
    (t, a) for t, a, _ in page.tags
    if t in ("a", "img", "link", "iframe", "object", "form") or
    [n for n in a if n in ("src", "href", "style", "xlink:href") or
     n.startswith("on")]])

headings = [t for t, _, _ in page.tags if re.fullmatch("h[1-6]", t)]
check("one heading is the first, those below follow it",
      headings[:1] == ["h1"] and set(headings[1:]) == {"h2"}, headings)
check("cells that name rows or columns say which",
      all(a.get("scope") in ("row", "col")
          for t, a, _ in page.tags if t == "th"))
check("graphs have a name", all(
    a.get("role") == "img" and (a.get("aria-labelledby") or a.get("aria-label"))
    for t, a, _ in page.tags if t == "svg"))
check("what scrolls can have the focus, and has a name", all(
    a.get("tabindex") == "0" and a.get("aria-label")
    for t, a, _ in page.tags if "scroll" in a.get("class", "").split()))

dump, diagnosis = (json.loads(page.texts[name])
                   for name in ("dump", "diagnosis"))
if len(sys.argv) > 2:
    check("the dump is that of --dump=json",
          dump == json.load(open(sys.argv[2])))
    check("the diagnosis is that of --diagnose=json",
          diagnosis == json.load(open(sys.argv[3])))


def table(section):
    """The rows of the table of a section, by their titles."""
    titles, *rows = page.rows.get(section, [[]])
    return [dict(zip(titles, row)) for row in rows]


def number(form, value, factor=1):
    return "-" if value is None else form % (factor * value)


def share(value):
    """As the program shows it, in percent."""
    return "%.0f" % (100 * value) if value >= 0.9995 else "%.1f" % (100 * value)


# A value that is bounded has a sign before it.
wanted = sorted((str(r["pid"]), str(r["rank"]), r["host"],
                 number("%.1f", (r["lateness"] or {}).get("cost_share"), 100),
                 number("%.2f", r["busbw_gbs"]), r["state"])
                for r in dump["ranks"])
seen = sorted((r["PID"], r["RANK"], r["HOST"], r.get("%COST", "-").lstrip("<>"),
               r.get("BUSGB/s", "-"), r["STATE"]) for r in table("ranks"))
check("ranks have the numbers of the dump", seen == wanted, seen, wanted)
wanted = sorted((f["function"], number("%.2f", f["algbw_gbs"]),
                 number("%.2f", f["busbw_gbs"]), number("%.2f", c["peak_gbs"]),
                 "-" if c["peak_gbs"] is None or f["busbw_gbs"] is None else
                 share(f["busbw_gbs"] / c["peak_gbs"]))
                for c in dump["communicators"] for f in c["functions"])
seen = sorted((r["FUNCTION"], r["ALGGB/s"], r["BUSGB/s"], r["PEAK GB/s"],
               r["%PEAK"])
              for r in table("bandwidth") if r.get("BUSGB/s", "-") != "-")
check("functions have the bandwidths of the dump",
      seen == [w for w in wanted if w[2] != "-"], seen, wanted)
wanted = sorted((str(r["rank"]), c["function"], c["algorithm"] or "-",
                 number("%.2f", c["busbw_gbs"]))
                for r in dump["ranks"] for c in r["classes"])
seen = sorted((r["RANK"], r["FUNCTION"], r.get("ALGO", "-"),
               r.get("BUSGB/s", "-")) for r in table("sizes"))
check("sizes have the bandwidths of the dump", seen == wanted, seen, wanted)
episodes = diagnosis["episodes"]
check("episodes are those of the diagnosis, in its order",
      [(r["Verdict"], r["% cost"], r["What"]) for r in table("episodes")] ==
      [(e["severity"], number("%.1f", e["cost_share"], 100), e["sentence"])
       for e in episodes], table("episodes"), episodes)
sent = {(r["rank"], c["peer"]): 0 for r in dump["ranks"] for c in r["channels"]}
for rank in dump["ranks"]:
    for channel in rank["channels"]:
        if channel["direction"] == "send":
            sent[rank["rank"], channel["peer"]] += channel["bytes"] or 0
cells = {(int(row[0]), to - 1) for row in page.rows.get("links", [])[1:]
         for to in range(1, len(row)) if row[to] != "-"}
check("links are those on which bytes were sent",
      len(dump["communicators"]) > 1 or
      cells == {pair for pair in sent if sent[pair] > 0}, cells, sent)
sys.exit(failed)
