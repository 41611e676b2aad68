#include "deuteron/driver/report/viewer.h"

namespace deuteron::report {

const char* ViewerLayoutScript() {
  return R"script("use strict";
// Layered layout after Sugiyama: layers by longest path, dummies on edges that cross layers, order within layers by
// barycentres, positions by isotonic regression toward the neighbours. Near-linear in nodes and edges.
const NODE_W = 168, NODE_H = 38, DUMMY_W = 18, GAP_X = 14, GAP_Y = 30, LONGEST_ROUTED = 40;

function layoutFunction(ids, edges, nodeCount) {
  const rank = new Map();
  const outs = new Map(), ins = new Map();
  for (const id of ids) { rank.set(id, 0); outs.set(id, []); ins.set(id, []); }
  for (const e of edges) { outs.get(e.from).push(e.to); ins.get(e.to).push(e.from); }
  for (const id of ids) for (const to of outs.get(id)) rank.set(to, Math.max(rank.get(to), rank.get(id) + 1));
  for (let i = ids.length - 1; i >= 0; --i) {
    const id = ids[i];
    if (ins.get(id).length === 0 && outs.get(id).length > 0) {
      rank.set(id, Math.min(...outs.get(id).map(to => rank.get(to))) - 1);
    }
  }
  const layers = [];
  const cells = [];  // {id or -1, layer, up: [], down: [], x, w}
  const add = (id, layer) => {
    const cell = {id, layer, up: [], down: [], cut: 0, x: 0, w: id < 0 ? DUMMY_W : NODE_W};
    while (layers.length <= layer) layers.push([]);
    layers[layer].push(cell);
    cells.push(cell);
    return cell;
  };
  const cellOf = new Map();
  for (const id of ids) cellOf.set(id, add(id, rank.get(id)));
  // A column should not end within a kernel.
  const link = (a, b, fused) => { a.down.push(b); b.up.push(a); a.cut += fused ? 8 : 1; };
  const routes = [];
  for (const e of edges) {
    const a = cellOf.get(e.from), b = cellOf.get(e.to);
    const route = [a];
    if (b.layer - a.layer <= LONGEST_ROUTED) {
      let last = a;
      for (let layer = a.layer + 1; layer < b.layer; ++layer) {
        const dummy = add(-1, layer);
        link(last, dummy, e.fused);
        route.push(dummy);
        last = dummy;
      }
      link(last, b, e.fused);
    }
    route.push(b);
    routes.push({edge: e, route});
  }
  orderLayers(layers);
  placeLayers(layers);
  return {layers, cellOf, routes};
}

function orderLayers(layers) {
  for (const layer of layers) layer.forEach((cell, i) => { cell.order = i; });
  const sweep = (layer, side) => {
    for (const cell of layer) {
      const near = cell[side];
      if (near.length > 0) {
        let sum = 0;
        for (const other of near) sum += other.order;
        cell.key = sum / near.length;
      } else {
        cell.key = cell.order;
      }
    }
    layer.sort((a, b) => a.key - b.key);
    layer.forEach((cell, i) => { cell.order = i; });
  };
  for (let round = 0; round < 6; ++round) {
    for (let i = 1; i < layers.length; ++i) sweep(layers[i], "up");
    for (let i = layers.length - 2; i >= 0; --i) sweep(layers[i], "down");
  }
}

// The positions nearest to those wanted that keep order and distance: pool adjacent violators.
function spread(layer, wanted) {
  const offset = [0];
  for (let i = 1; i < layer.length; ++i) offset.push(offset[i - 1] + (layer[i - 1].w + layer[i].w) / 2 + GAP_X);
  const pools = [];
  for (let i = 0; i < layer.length; ++i) {
    // Dummies hold their line: long edges become straight.
    const weight = layer[i].id < 0 ? 4 : 1;
    let pool = {sum: (wanted[i] - offset[i]) * weight, weight, count: 1};
    while (pools.length > 0 && pools[pools.length - 1].sum / pools[pools.length - 1].weight > pool.sum / pool.weight) {
      const last = pools.pop();
      pool = {sum: last.sum + pool.sum, weight: last.weight + pool.weight, count: last.count + pool.count};
    }
    pools.push(pool);
  }
  let i = 0;
  for (const pool of pools) for (let k = 0; k < pool.count; ++k, ++i) layer[i].x = pool.sum / pool.weight + offset[i];
}

function placeLayers(layers) {
  for (const layer of layers) {
    spread(layer, layer.map(() => 0));
    const middle = layer.length ? (layer[0].x + layer[layer.length - 1].x) / 2 : 0;
    for (const cell of layer) cell.x -= middle;
  }
  const pull = (layer, sides) => spread(layer, layer.map(cell => {
    let sum = 0, count = 0;
    for (const side of sides) for (const other of cell[side]) { sum += other.x; ++count; }
    return count > 0 ? sum / count : cell.x;
  }));
  for (let round = 0; round < 8; ++round) {
    const sides = round < 4 ? null : ["up", "down"];
    for (let i = 1; i < layers.length; ++i) pull(layers[i], sides || ["up"]);
    for (let i = layers.length - 2; i >= 0; --i) pull(layers[i], sides || ["down"]);
  }
}

// Cuts a tall layout into columns of about the window's proportions, where few edges are cut.
function foldColumns(layers, aspect) {
  const crossing = new Array(layers.length).fill(0);
  layers.forEach((layer, i) => { for (const cell of layer) crossing[i] += cell.cut; });
  const width = layer => layer.length ? layer[layer.length - 1].x + layer[layer.length - 1].w / 2 - layer[0].x + layer[0].w / 2 : 0;
  const widths = layers.map(width).sort((a, b) => a - b);
  const typical = (widths[Math.floor(widths.length * 0.9)] || NODE_W) + 60;
  const height = layers.length * (NODE_H + GAP_Y);
  const columns = Math.max(1, Math.min(Math.round(Math.sqrt(height * aspect / typical)), Math.ceil(layers.length / 8)));
  const cuts = [0];
  for (let c = 1; c < columns; ++c) {
    const ideal = Math.round(layers.length * c / columns), slack = Math.floor(layers.length / columns / 4);
    let best = ideal;
    for (let i = Math.max(cuts[c - 1] + 2, ideal - slack); i <= Math.min(layers.length - 1, ideal + slack); ++i) {
      if (crossing[i - 1] < crossing[best - 1]) best = i;
    }
    cuts.push(best);
  }
  cuts.push(layers.length);
  let left = 0;
  for (let c = 0; c + 1 < cuts.length; ++c) {
    let low = Infinity, high = -Infinity;
    for (let i = cuts[c]; i < cuts[c + 1]; ++i) {
      for (const cell of layers[i]) { low = Math.min(low, cell.x - cell.w / 2); high = Math.max(high, cell.x + cell.w / 2); }
    }
    if (low === Infinity) continue;
    for (let i = cuts[c]; i < cuts[c + 1]; ++i) {
      for (const cell of layers[i]) {
        cell.x += left - low;
        cell.y = (i - cuts[c]) * (NODE_H + GAP_Y);
        cell.column = c;
      }
    }
    left += high - low + 60;
  }
  return left;
}

function layout(nodes, edges, aspect) {
  const functions = new Map();
  nodes.forEach((node, id) => {
    if (!functions.has(node.function)) functions.set(node.function, []);
    functions.get(node.function).push(id);
  });
  const position = new Array(nodes.length);
  const routes = new Array(edges.length);
  const numbered = edges.map((e, i) => ({from: e.from, to: e.to, index: i, fused: e.fused})).filter(e => e.from < e.to);
  let left = 0;
  for (const [name, ids] of functions) {
    const mine = numbered.filter(e => nodes[e.from].function === name && nodes[e.to].function === name);
    const {layers, cellOf, routes: found} = layoutFunction(ids, mine, nodes.length);
    const width = foldColumns(layers, aspect);
    for (const id of ids) {
      const cell = cellOf.get(id);
      position[id] = {x: cell.x + left, y: cell.y, column: cell.column};
    }
    for (const {edge, route} of found) routes[edge.index] = route.map(cell => ({x: cell.x + left, y: cell.y, column: cell.column}));
    left += width + 80;
  }
  return {position, routes};
}
)script";
}

}  // namespace deuteron::report
