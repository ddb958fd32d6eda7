#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws a picture of a terminal: reads the output of `tmux capture-pane -e -p`
from standard input and writes an SVG to standard output.

    picture.py [--light] <screen >picture.svg

Each run of characters with the same style is a text element that is stretched
to its columns, so that any monospaced font fits."""

import html
import re
import sys

WIDTH, HEIGHT, MARGIN = 8.4, 18, 12
NORMAL = [
    "#1d1f21", "#cc342b", "#198844", "#b58900",
    "#3971ed", "#a36ac7", "#2aa198", "#c5c8c6",
]
BRIGHT = [
    "#707880", "#ff6e67", "#5af78e", "#f4d35e",
    "#6fa8ff", "#d6a0f5", "#7fdbca", "#ffffff",
]


def color(number):
    """Returns one of the 256 colours of xterm."""
    if number < 8:
        return NORMAL[number]
    if number < 16:
        return BRIGHT[number - 8]
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return "#%02x%02x%02x" % (level, level, level)
    number -= 16
    levels = [0, 95, 135, 175, 215, 255]
    return "#%02x%02x%02x" % (
        levels[number // 36], levels[number // 6 % 6], levels[number % 6])


class Style:
    def __init__(self):
        self.foreground = self.background = None
        self.bold = self.dim = self.reverse = False

    def change(self, codes):
        codes = [int(code or 0) for code in codes]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.dim = True
            elif code == 22:
                self.bold = self.dim = False
            elif code in (7, 27):
                self.reverse = code == 7
            elif code in (38, 48) and codes[:1] == [5]:
                value = color(codes[1])
                del codes[:2]
                if code == 38:
                    self.foreground = value
                else:
                    self.background = value
            elif 30 <= code <= 37:
                self.foreground = NORMAL[code - 30]
            elif code == 39:
                self.foreground = None
            elif 40 <= code <= 47:
                self.background = NORMAL[code - 40]
            elif code == 49:
                self.background = None
            elif 90 <= code <= 97:
                self.foreground = BRIGHT[code - 90]
            elif 100 <= code <= 107:
                self.background = BRIGHT[code - 100]

    def colors(self, ink, paper):
        front, back = self.foreground or ink, self.background or paper
        return (back, front) if self.reverse else (front, back)


def draw(column, row, text, style, ink, paper):
    front, back = style.colors(ink, paper)
    x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT
    width = len(text) * WIDTH
    if back != paper:
        yield '<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
            x, y, width, HEIGHT, back)
    if text.strip():
        yield ('<text x="%.1f" y="%.1f" textLength="%.1f" fill="%s"%s%s>%s'
               "</text>" % (
                   x, y + 0.75 * HEIGHT, width, front,
                   ' font-weight="bold"' if style.bold else "",
                   ' opacity="0.6"' if style.dim else "",
                   html.escape(text)))


def main():
    light = sys.argv[1:] == ["--light"]
    ink, paper = ("#1d1f21", "#fdfdf6") if light else ("#d0d0d0", "#16181a")
    lines = sys.stdin.read().rstrip("\n").split("\n")
    shapes, style, columns = [], Style(), 0
    for row, line in enumerate(lines):
        column = 0
        for part in re.split("(\x1b\\[[0-9;]*m)", line):
            if part.startswith("\x1b"):
                style.change(part[2:-1].split(";"))
            elif part:
                shapes += draw(column, row, part, style, ink, paper)
                column += len(part)
        columns = max(columns, column)
    width = 2 * MARGIN + columns * WIDTH
    height = 2 * MARGIN + len(lines) * HEIGHT
    print('<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f"'
          ' font-family="DejaVu Sans Mono, Menlo, Consolas, monospace"'
          ' font-size="14" xml:space="preserve">' % (width, height))
    print('<rect width="100%%" height="100%%" rx="6" fill="%s"/>' % paper)
    print("\n".join(shapes))
    print("</svg>")


if __name__ == "__main__":
    main()
