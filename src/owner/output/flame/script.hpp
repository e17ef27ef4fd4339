// What makes the picture of output/flame/writer.hpp answer to clicks and keys. It knows the frames by their elements
// alone.
#pragma once

#include <string_view>

namespace landtrace::output::flame {

inline constexpr std::string_view kScript = R"script(
"use strict";
const WIDTH = 1200, MARGIN = 10, LETTER = 6.6;
const frames = [...document.querySelectorAll("g.f")].map(g => {
  const rect = g.querySelector("rect");
  const title = g.querySelector("title").textContent;
  return {g, rect, label: g.querySelector("text"), title, name: title.slice(0, title.lastIndexOf(" (")),
          x: +rect.getAttribute("x"), w: +rect.getAttribute("width"), y: +rect.getAttribute("y")};
});
const status = document.getElementById("status"), hint = document.getElementById("hint"), plain = hint.textContent;
function place(f, x, w) {
  f.rect.setAttribute("x", x);
  f.rect.setAttribute("width", w);
  f.label.setAttribute("x", x + 3);
  const letters = Math.floor((w - 4) / LETTER);
  f.label.textContent = letters < 3 ? "" : f.name.length <= letters ? f.name : f.name.slice(0, letters - 1) + "\u2026";
}
function zoom(to) {
  const scale = (WIDTH - 2 * MARGIN) / to.w;
  for (const f of frames) {
    const below = f.y > to.y && f.x <= to.x + 1e-6 && f.x + f.w >= to.x + to.w - 1e-6;
    const within = f.y <= to.y && f.x >= to.x - 1e-6 && f.x + f.w <= to.x + to.w + 1e-6;
    f.g.style.display = below || within ? "" : "none";
    f.g.style.opacity = below ? 0.5 : 1;
    if (below) place(f, MARGIN, WIDTH - 2 * MARGIN);
    if (within) place(f, MARGIN + (f.x - to.x) * scale, f.w * scale);
  }
}
function search(word) {
  const wanted = word.toLowerCase();
  const found = frames.filter(f => {
    const fits = wanted !== "" && f.name.toLowerCase().includes(wanted);
    f.rect.classList.toggle("found", fits);
    return fits;
  });
  // A frame within one that was found is in its width already.
  let sum = 0, end = -1;
  for (const f of found.sort((a, b) => a.x - b.x || b.w - a.w)) {
    if (f.x + f.w <= end + 1e-6) continue;
    sum += f.x + f.w - Math.max(f.x, end);
    end = f.x + f.w;
  }
  hint.textContent = wanted === "" ? plain : `${word}: ${(100 * sum / (WIDTH - 2 * MARGIN)).toFixed(1)} %`;
}
function ask() {
  const word = prompt("Search for a function", "");
  if (word !== null) search(word);
}
const root = frames[0];
for (const f of frames) {
  f.g.addEventListener("click", () => zoom(f));
  f.g.addEventListener("mouseover", () => { status.textContent = f.title; });
  f.g.addEventListener("mouseout", () => { status.textContent = ""; });
}
hint.addEventListener("click", ask);
document.documentElement.addEventListener("keydown", e => {
  if (e.key === "Escape" && root) { zoom(root); search(""); }
  if (e.key === "/") { e.preventDefault(); ask(); }
});
)script";

}  // namespace landtrace::output::flame
