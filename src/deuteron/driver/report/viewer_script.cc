#include "deuteron/driver/report/viewer.h"

namespace deuteron::report {

const char* ViewerScript() {
  return R"script("use strict";
(function () {
const begin = performance.now();
const data = JSON.parse(document.getElementById("data").textContent);
const {nodes, edges, kernels, texts} = data;
const canvas = document.getElementById("canvas"), panel = document.getElementById("panel");
const context = canvas.getContext("2d");
const aspect = Math.max(0.5, canvas.clientWidth / Math.max(1, canvas.clientHeight));
const {position, routes} = layout(nodes, edges, aspect);

// ----- Words and figures.

const escape = text => String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}[c]));
function scaled(value, base, units) {
  if (typeof value !== "number") return escape(value);
  let unit = 0;
  while (Math.abs(value) >= base && unit + 1 < units.length) { value /= base; ++unit; }
  return (unit === 0 ? value : value.toFixed(Math.abs(value) < 10 ? 2 : 1)) + units[unit];
}
const bytes = value => scaled(value, 1024, [" B", " KiB", " MiB", " GiB", " TiB"]);
const count = value => scaled(value, 1000, ["", " k", " M", " G", " T"]);
const opsOf = kernel => kernel.members.filter(m => "bytes_read" in nodes[m]);
const isGroup = kernel => kernel.members.length > 1;
// Neighbouring groups get colours far apart on the wheel.
const hue = kernel => (kernel * 137.508) % 360;
const color = (kernel, alpha) => kernel === undefined || !isGroup(kernels[kernel]) ? `rgba(226, 231, 237, ${alpha})`
                                                                                  : `hsla(${hue(kernel)}, 62%, 78%, ${alpha})`;
const shorten = (text, width) => {
  if (context.measureText(text).width <= width) return text;
  // The end of a path tells more than its beginning.
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (context.measureText("…" + text.slice(middle)).width <= width) high = middle; else low = middle + 1;
  }
  return "…" + text.slice(low);
};

// ----- The view.

let scale = 1, originX = 0, originY = 0;
let selectedKernel = -1, selectedNode = -1, selectedEdge = -1;
let matches = [], matchSet = new Set();
const bounds = {x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity};
for (const p of position) {
  bounds.x0 = Math.min(bounds.x0, p.x - NODE_W / 2); bounds.x1 = Math.max(bounds.x1, p.x + NODE_W / 2);
  bounds.y0 = Math.min(bounds.y0, p.y - NODE_H / 2); bounds.y1 = Math.max(bounds.y1, p.y + NODE_H / 2);
}

function tracePath(index) {
  const route = routes[index];
  if (!route) return false;
  context.beginPath();
  for (let i = 0; i + 1 < route.length; ++i) {
    const a = route[i], b = route[i + 1];
    const ay = a.y + (i === 0 ? NODE_H / 2 : 0), by = b.y - (i + 2 === route.length ? NODE_H / 2 : 0);
    if (i === 0) context.moveTo(a.x, ay);
    if (by > ay) {
      const bend = Math.min((by - ay) / 2, 40);
      // A long edge that was not routed bulges, so that it does not hide behind what it passes.
      const bulge = route.length === 2 && by - ay > 2 * (NODE_H + GAP_Y) ? NODE_W * 0.7 : 0;
      context.bezierCurveTo(a.x + bulge, ay + bend, b.x + bulge, by - bend, b.x, by);
    } else {
      // On into the next column.
      const middle = (a.x + b.x) / 2;
      context.bezierCurveTo(a.x, ay + 46, middle, ay + 46, middle, (ay + by) / 2);
      context.bezierCurveTo(middle, by - 46, b.x, by - 46, b.x, by);
    }
  }
  return true;
}

function visible(p, margin) {
  const x = p.x * scale + originX, y = p.y * scale + originY;
  return x > -margin && y > -margin && x < canvas.clientWidth + margin && y < canvas.clientHeight + margin;
}

let scheduled = false;
function draw() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => { scheduled = false; paint(); });
}

function paint() {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale * ratio, 0, 0, scale * ratio, originX * ratio, originY * ratio);
  const margin = 400 * Math.max(scale, 0.2);
  const shown = edges.map((e, i) => routes[i] && (routes[i].length > 4 || visible(position[e.from], margin) || visible(position[e.to], margin)));
  // Groups as ribbons along their edges, beneath everything.
  context.lineCap = "round";
  context.setLineDash([]);
  edges.forEach((e, i) => {
    if (!shown[i] || !e.fused) return;
    tracePath(i);
    const kernel = nodes[e.to].kernels[0];
    context.strokeStyle = color(kernel, selectedKernel < 0 || selectedKernel === kernel ? 0.85 : 0.35);
    context.lineWidth = 26;
    context.stroke();
  });
  edges.forEach((e, i) => {
    if (!shown[i] || !tracePath(i)) return;
    context.strokeStyle = i === selectedEdge ? "#0b62c4" : e.fused ? "#5b6775" : "#c4453a";
    context.lineWidth = (i === selectedEdge ? 3 : 1.2) / Math.max(scale, 0.5) * Math.max(scale, 0.5);
    context.setLineDash(e.fused ? [] : [6, 4]);
    context.stroke();
  });
  context.setLineDash([]);
  const words = scale > 0.32;
  nodes.forEach((node, id) => {
    const p = position[id];
    if (!visible(p, 120 * scale + 20)) return;
    const kernel = node.kernels[0];
    const mine = selectedKernel >= 0 && node.kernels.includes(selectedKernel);
    context.globalAlpha = selectedKernel >= 0 && !mine ? 0.55 : 1;
    context.beginPath();
    context.roundRect(p.x - NODE_W / 2, p.y - NODE_H / 2, NODE_W, NODE_H, 6);
    context.fillStyle = color(kernel, 1);
    context.fill();
    const found = matchSet.has(id);
    context.lineWidth = id === selectedNode || mine || found ? 2.5 : 1;
    context.strokeStyle = found ? "#d97706" : id === selectedNode ? "#0b62c4" : mine ? "#33475b" : node.kind === "opaque" ? "#7a8794" : "#b4bec9";
    context.stroke();
    if (words) {
      context.fillStyle = "#1d2733";
      context.textAlign = "center";
      context.font = "600 12px system-ui, sans-serif";
      context.fillText(shorten(node.operator, NODE_W - 12), p.x, p.y - 4);
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = "#4a5561";
      context.fillText(shorten(node.place, NODE_W - 12), p.x, p.y + 11);
    }
    context.globalAlpha = 1;
  });
}

function fit() {
  if (nodes.length === 0) return;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  scale = Math.min(1.2, (width - 40) / (bounds.x1 - bounds.x0), (height - 90) / (bounds.y1 - bounds.y0));
  originX = (width - scale * (bounds.x0 + bounds.x1)) / 2;
  originY = 55 + (height - 90 - scale * (bounds.y1 - bounds.y0)) / 2 - scale * bounds.y0;
  draw();
}
function center(id) {
  scale = Math.max(scale, 0.8);
  originX = canvas.clientWidth / 2 - position[id].x * scale;
  originY = canvas.clientHeight / 2 - position[id].y * scale;
  draw();
}
function zoom(factor, x, y) {
  factor = Math.min(4, Math.max(0.01, scale * factor)) / scale;
  originX = x - (x - originX) * factor;
  originY = y - (y - originY) * factor;
  scale *= factor;
  draw();
}

// ----- Moving and clicking.

let drag = null;
canvas.addEventListener("pointerdown", e => {
  drag = {x: e.clientX, y: e.clientY, moved: false};
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener("pointermove", e => {
  if (!drag) return;
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
  drag = {x: e.clientX, y: e.clientY, moved: true};
  originX += dx; originY += dy;
  draw();
});
canvas.addEventListener("pointerup", e => {
  const clicked = drag && !drag.moved;
  drag = null;
  if (!clicked) return;
  const box = canvas.getBoundingClientRect();
  const px = e.clientX - box.left, py = e.clientY - box.top;
  const x = (px - originX) / scale, y = (py - originY) / scale;
  const hit = position.findIndex(p => Math.abs(p.x - x) <= NODE_W / 2 && Math.abs(p.y - y) <= NODE_H / 2);
  if (hit >= 0) return showNode(hit);
  const ratio = window.devicePixelRatio || 1;
  context.lineWidth = 10 / scale;
  const edge = edges.findIndex((_, i) => tracePath(i) && context.isPointInStroke(px * ratio, py * ratio));
  if (edge >= 0) return showEdge(edge);
  showOverview();
});
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const box = canvas.getBoundingClientRect();
  zoom(Math.exp(-e.deltaY * 0.0015), e.clientX - box.left, e.clientY - box.top);
}, {passive: false});
window.addEventListener("resize", draw);
window.addEventListener("keydown", e => {
  if (e.target.tagName === "INPUT") return;
  if (e.key === "0") fit();
  if (e.key === "+" || e.key === "=") zoom(1.25, canvas.clientWidth / 2, canvas.clientHeight / 2);
  if (e.key === "-") zoom(0.8, canvas.clientWidth / 2, canvas.clientHeight / 2);
  if (e.key === "/") { document.getElementById("search").focus(); e.preventDefault(); }
});
document.getElementById("fit").addEventListener("click", fit);

// ----- Searching.

const search = document.getElementById("search");
let current = -1;
function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(w => w);
  matches = words.length === 0 ? [] : nodes.map((_, id) => id).filter(id => {
    const node = nodes[id];
    const all = (node.place + " " + node.operator + " " + node.name + " " + node.kernels.map(k => kernels[k].name).join(" ")).toLowerCase();
    return words.every(word => all.includes(word));
  });
  matchSet = new Set(matches);
  current = -1;
  document.getElementById("found").textContent = words.length === 0 ? "" : matches.length + " found";
  draw();
}
function next(step) {
  if (matches.length === 0) return;
  current = (current + step + matches.length) % matches.length;
  showNode(matches[current]);
  center(matches[current]);
}
search.addEventListener("input", () => find(search.value));
search.addEventListener("keydown", e => { if (e.key === "Enter") next(e.shiftKey ? -1 : 1); });

// ----- The panel.

const nodeLink = id => `<span class="go" data-node="${id}">${escape(nodes[id].place)} <span class="soft">${escape(nodes[id].operator)}</span></span>`;
const swatch = k => `<span class="swatch" style="background:${color(k, 1)}"></span>`;
const row = (name, value) => `<tr><th>${name}</th><td>${value}</td></tr>`;

function select(kernel, node, edge) {
  selectedKernel = kernel; selectedNode = node; selectedEdge = edge;
  panel.scrollTop = 0;
  draw();
}

function verdict(i) {
  const e = edges[i];
  const other = `${nodeLink(e.from)} → ${nodeLink(e.to)}`;
  if (e.fused) return `<p>${other}<br><span class="ok">fused</span> <span class="soft">${escape(e.pass)}${e.phase === undefined ? "" : ", phase " + e.phase}</span></p>`;
  return `<p>${other}<br><span class="code">${escape(e.reason)}</span> ${escape(e.sentence)}` +
         (e.at === undefined ? "" : `<br><span class="soft">In the way:</span> ${nodeLink(e.at)}`) +
         (e.change ? `<br><span class="soft">To fuse:</span> ${escape(e.change)}` : "") + "</p>";
}

function showOverview() {
  const order = kernels.map((_, i) => i).sort((a, b) => {
    const figure = k => typeof kernels[k].bytes_saved === "number" ? kernels[k].bytes_saved : 0;
    return figure(b) - figure(a) || a - b;
  });
  const reasons = new Map();
  for (const e of edges) if (!e.fused) reasons.set(e.reason, (reasons.get(e.reason) || 0) + 1);
  panel.innerHTML = `<h1>${escape(data.model)}</h1>
    <div class="soft">${data.operators} operators in ${data.kernels_launched} kernels; ${data.edges_fused} of ${edges.length} edges fused</div>
    <table style="margin-top:8px">${row("moved before fusion", bytes(data.bytes_before))}${row("moved after", bytes(data.bytes_after))}
    ${row("arithmetic", count(data.flops))}</table>
    <h2>Kernels by bytes saved</h2>
    <table><tr><th>kernel</th><th class="n">ops</th><th class="n">saved</th><th class="n">moved</th></tr>
    ${order.map(k => `<tr class="go" data-kernel="${k}"><td>${swatch(k)}${escape(kernels[k].name)}<div class="soft">${escape(kernels[k].places.slice(0, 3).join(", "))}</div></td>
      <td class="n">${opsOf(kernels[k]).length}</td><td class="n">${bytes(kernels[k].bytes_saved)}</td>
      <td class="n">${typeof kernels[k].bytes_read === "number" && typeof kernels[k].bytes_written === "number" ? bytes(kernels[k].bytes_read + kernels[k].bytes_written) : "…"}</td></tr>`).join("")}</table>
    <h2>Edges that are not fused</h2>
    <table>${[...reasons].sort((a, b) => b[1] - a[1]).map(([code, n]) => `<tr class="go" data-reason="${escape(code)}"><td><span class="code">${escape(code)}</span></td><td class="n">${n}</td></tr>`).join("")}</table>`;
  select(-1, -1, -1);
}

function showReason(code) {
  const list = edges.map((_, i) => i).filter(i => !edges[i].fused && edges[i].reason === code);
  panel.innerHTML = `<h1><span class="code">${escape(code)}</span></h1><div class="soft">${list.length} edges</div>${list.slice(0, 300).map(verdict).join("")}`;
  select(-1, -1, -1);
}

function showKernel(k) {
  const kernel = kernels[k];
  const stage = (name, title, open) => texts[name] && texts[name][open] ?
    `<details><summary>${title}</summary><pre>${escape(texts[name][open])}</pre></details>` : "";
  const before = [...new Set(opsOf(kernel).map(m => nodes[m].operator))].map(name => stage(name, "TIR before fusion: " + escape(name), "before-fusion")).join("");
  panel.innerHTML = `<h1>${swatch(k)}${escape(kernel.name)}</h1><div class="soft">kernel ${k} of ${kernels.length}, in ${escape(kernel.function)}</div>
    <table style="margin-top:8px">
    ${row("saved", bytes(kernel.bytes_saved))}
    ${row("before", "reads " + bytes(kernel.bytes_read_before) + ", writes " + bytes(kernel.bytes_written_before))}
    ${row("after", "reads " + bytes(kernel.bytes_read) + ", writes " + bytes(kernel.bytes_written))}
    ${row("arithmetic", count(kernel.flops))}
    ${row("schedule", escape(kernel.schedule))}
    ${row("parameters", "<code>" + escape(kernel.parameters) + "</code>")}
    ${kernel.not_merged ? row("not merged", escape(kernel.not_merged)) : ""}</table>
    <h2>Operators</h2>
    <table>${kernel.members.map(m => `<tr><td>${nodeLink(m)}</td><td>${escape(nodes[m].kind)}</td><td class="soft">${kernel.intermediates_removed.includes(m) ? "not stored" : ""}</td></tr>`).join("")}</table>
    <h2>Where the kernel ends</h2>
    ${edges.map((_, i) => i).filter(i => !edges[i].fused && nodes[edges[i].from].kernels.includes(k) !== nodes[edges[i].to].kernels.includes(k)).map(verdict).join("") || "<p class=soft>It has no neighbours.</p>"}
    <h2>Code</h2>${stage(kernel.name, "TIR after fusion", "after-fusion")}${stage(kernel.name, "Scheduled", "scheduled")}${before}`;
  select(k, -1, -1);
}

function showNode(id) {
  const node = nodes[id];
  if (node.kernels.length > 0) {
    showKernel(node.kernels[0]);
  } else {
    panel.innerHTML = `<h1>${escape(node.place)}</h1><div class="soft">${escape(node.operator)}: not in a kernel</div>`;
  }
  const mine = edges.map((_, i) => i).filter(i => edges[i].from === id || edges[i].to === id);
  panel.insertAdjacentHTML("beforeend", `<h2>Edges of ${escape(node.place)}</h2>${node.note ? `<p>${escape(node.note)}</p>` : ""}${mine.map(verdict).join("")}`);
  select(node.kernels.length > 0 ? node.kernels[0] : -1, id, -1);
}

function showEdge(i) {
  panel.innerHTML = `<h1>Edge</h1>${verdict(i)}`;
  select(-1, -1, i);
}

panel.addEventListener("click", e => {
  const go = e.target.closest("[data-node], [data-kernel], [data-reason]");
  if (!go) return;
  if (go.dataset.node !== undefined) { showNode(+go.dataset.node); center(+go.dataset.node); }
  else if (go.dataset.kernel !== undefined) { showKernel(+go.dataset.kernel); if (kernels[+go.dataset.kernel].members.length) center(kernels[+go.dataset.kernel].members[0]); }
  else showReason(go.dataset.reason);
});

// ----- Links: #search=relu, #kernel=3, #node=12, #reason=opaque-producer.

document.title = data.model + " – deuteron explain";
showOverview();
fit();
function follow() {
  const link = new URLSearchParams(location.hash.slice(1));
  if (link.has("search")) { search.value = link.get("search"); find(search.value); next(1); }
  if (link.has("kernel") && kernels[+link.get("kernel")]) showKernel(+link.get("kernel"));
  if (link.has("node") && nodes[+link.get("node")]) showNode(+link.get("node"));
  if (link.has("reason")) showReason(link.get("reason"));
}
window.addEventListener("hashchange", follow);
follow();
paint();
document.body.dataset.ready = JSON.stringify({nodes: nodes.length, edges: edges.length, kernels: kernels.length,
                                              milliseconds: Math.round(performance.now() - begin)});
})();
)script";
}

}  // namespace deuteron::report
