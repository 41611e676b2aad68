#include "deuteron/driver/report/viewer.h"

namespace deuteron::report {

const char* ViewerPage() {
  return R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>deuteron explain</title>
<style>
  :root { --line: #d8dde3; --ink: #1d2733; --soft: #66717e; --accent: #0b62c4; }
  * { box-sizing: border-box; }
  html, body { height: 100%; margin: 0; }
  body { display: flex; font: 13px/1.45 system-ui, sans-serif; color: var(--ink); background: #fff; }
  #graph { flex: 1; position: relative; min-width: 0; overflow: hidden; background: #fafbfc; }
  #graph canvas { position: absolute; inset: 0; width: 100%; height: 100%; cursor: grab; touch-action: none; }
  #tools { position: absolute; left: 12px; top: 12px; display: flex; gap: 6px; align-items: center; }
  #tools input { width: 250px; padding: 6px 9px; border: 1px solid var(--line); border-radius: 6px; font: inherit; background: #fff; }
  #tools button { padding: 6px 10px; border: 1px solid var(--line); border-radius: 6px; background: #fff; font: inherit; cursor: pointer; }
  #found { color: var(--soft); }
  #legend { position: absolute; left: 12px; bottom: 10px; color: var(--soft); background: #fffc; padding: 3px 8px; border-radius: 6px; }
  #legend i { display: inline-block; width: 26px; height: 0; vertical-align: middle; margin: 0 5px 0 12px; border-top: 2px solid #5b6775; }
  #legend i.cut { border-top: 2px dashed #c4453a; }
  #panel { width: 470px; border-left: 1px solid var(--line); overflow: auto; padding: 14px 16px; }
  h1 { font-size: 16px; margin: 0 0 4px; overflow-wrap: anywhere; }
  h2 { font-size: 14px; margin: 18px 0 6px; overflow-wrap: anywhere; }
  .soft { color: var(--soft); }
  table { border-collapse: collapse; width: 100%; }
  th { text-align: left; font-weight: 600; color: var(--soft); }
  td, th { padding: 3px 6px 3px 0; border-bottom: 1px solid #eef1f4; vertical-align: top; overflow-wrap: anywhere; }
  th { white-space: nowrap; overflow-wrap: normal; padding-right: 14px; }
  td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
  tr.go, .go { cursor: pointer; }
  tr.go:hover, .go:hover { background: #f0f6ff; }
  pre { background: #f6f8fa; border: 1px solid var(--line); border-radius: 6px; padding: 8px; overflow: auto; max-height: 420px; font: 11px/1.4 ui-monospace, monospace; }
  details summary { cursor: pointer; font-weight: 600; margin-top: 10px; }
  code { font: 12px ui-monospace, monospace; }
  .code { background: #fdecea; color: #a33025; border-radius: 4px; padding: 0 4px; }
  .ok { background: #e5f4e8; color: #226b35; border-radius: 4px; padding: 0 4px; }
  .swatch { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 5px; }
</style>
</head>
<body>
<div id="graph">
  <canvas id="canvas"></canvas>
  <div id="tools">
    <input id="search" type="search" placeholder="Search nodes and kernels" spellcheck="false">
    <button id="fit" title="0">Fit</button>
    <span id="found"></span>
  </div>
  <div id="legend">drag to move, wheel to zoom, click for figures <i></i>fused <i class="cut"></i>not fused</div>
</div>
<div id="panel"></div>
<script id="data" type="application/json">/*DATA*/</script>
<script>
/*SCRIPT*/
</script>
</body>
</html>
)page";
}

}  // namespace deuteron::report
