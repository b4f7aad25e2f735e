#!/usr/bin/env bash
# Opens pages in headless Chromium without a network and looks at what became of them on a screen, on a
# phone and on paper: nothing on the console, every figure drawn, a table below each, nothing cut off.
# Usage: open_pages.sh [--bad] PAGE...; with --bad it wants each page to fail. Exit code 0: as wanted; 1: not so; 77: there is no Chromium, nothing was done.
set -euo pipefail
wants_bad=no
if [ "${1:-}" = --bad ]; then
  wants_bad=yes
  shift
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "skipped: there is no Chromium here; Debian has it as chromium"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Counts what is drawn: pixels of a canvas, shapes of an SVG element with an extent on the screen.
cat >"$folder/look.js" <<'SCRIPT'
<script>
addEventListener("load", () => setTimeout(() => {
  const faults = [];
  let figures = 0;
  for (const figure of document.querySelectorAll("figure")) {
    ++figures;
    const name = figure.querySelector("[aria-label]")?.getAttribute("aria-label") ?? "a figure";
    const canvas = figure.querySelector("canvas");
    if (canvas) {
      const colours = new Set();
      const { width, height } = canvas;
      const pixels = new Uint32Array(
        canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
      let drawn = 0;
      for (const pixel of pixels) {
        if (pixel >>> 24) { ++drawn; colours.add(pixel); }
      }
      if (drawn < 500 || colours.size < 3) faults.push(`${name}: ${drawn} pixels drawn`);
    } else {
      const shapes = [...figure.querySelectorAll("svg path, svg rect, svg circle")].filter((shape) => {
        const box = shape.getBoundingClientRect();
        return box.width > 0 && box.height > 0;
      });
      if (shapes.length < 2) faults.push(`${name}: ${shapes.length} shapes drawn`);
    }
    const below = figure.nextElementSibling;
    if (!below?.querySelector("table tbody tr")) faults.push(`${name}: no table below`);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the window");
  if (document.documentElement.classList.contains("printing")) {  // nobody can scroll there
    for (const part of document.querySelectorAll(".wide, pre")) {
      if (part.scrollWidth <= part.clientWidth) continue;
      faults.push(`cut off: ${part.textContent.trim().slice(0, 40)}`);
    }
  }
  const verdict = document.createElement("pre");
  verdict.id = "verdict";
  verdict.textContent = `VERDICT figures ${figures}; ` + (faults.join("; ") || "good");
  document.body.append(verdict);
}, 300));
</script>
SCRIPT

status=0
# Paper is what the rules for print make of 718 pixels, A4 without Chromium's margins.
for page in "$@"; do
  for place in screen:1200 phone:390 paper:718; do
    width=${place#*:}
    sed "/<\/body>/e cat '$folder/look.js'" "$page" >"$folder/page.html"
    if [ "$place" = paper:718 ]; then
      sed -i -e 's/@media print/@media all/' -e 's/<html /<html class="printing" /' "$folder/page.html"
    fi
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --enable-logging=stderr --v=0 \
      --host-resolver-rules="MAP * ~NOTFOUND" --user-data-dir="$folder/profile" \
      --window-size=$width,1200 --virtual-time-budget=5000 --dump-dom "file://$folder/page.html" \
      >"$folder/dom.html" 2>"$folder/log.txt" || true
    verdict=$(grep -o 'VERDICT [^<]*' "$folder/dom.html" | tail -1 || true)
    console=$(grep -o 'CONSOLE.*' "$folder/log.txt" | head -3 || true)
    good=no
    if [[ $verdict == *"; good" ]] && [ -z "$console" ]; then good=yes; fi
    echo "$page on ${place%:*}: ${verdict:-the page did not load} ${console:+; console: $console}"
    [ "$good" != "$wants_bad" ] || status=1
  done
done
exit $status
