// SPDX-License-Identifier: Apache-2.0
// How the page looks: colours follow the reader's light or dark setting. Runs have the strong
// colours --c0 to --c7, operators the soft ones --k0 to --k12. The script marks tables that are too
// wide as cards: each of their rows becomes a box of labels and values.
#include "tutti/report/page.h"

namespace tutti::report {

const char* const page_style = R"css(
:root {
  --back: #fafaf8; --panel: #fff; --text: #1c1d20; --faint: #686b73; --line: #e2e2de; --mark: #fff0c2;
  --c0: #2563c9; --c1: #d2540b; --c2: #1f8a4c; --c3: #9333b5;
  --c4: #c3224f; --c5: #0c7c92; --c6: #8a6a10; --c7: #5a6270;
  --k0: hsl(210 65% 76%); --k1: hsl(38 85% 72%); --k2: hsl(140 40% 70%); --k3: hsl(285 45% 80%);
  --k4: hsl(8 75% 78%); --k5: hsl(178 45% 68%); --k6: hsl(55 75% 70%); --k7: hsl(325 55% 83%);
  --k8: hsl(95 45% 76%); --k9: hsl(245 60% 84%); --k10: hsl(25 45% 70%); --k11: hsl(195 40% 82%);
  --k12: hsl(45 12% 76%);
  --right: 31 138 76; --wrong: 195 34 79;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #131417; --panel: #1c1e22; --text: #e7e7e4; --faint: #9a9da6; --line: #33363c; --mark: #4a3d12;
    --c0: #6ea3ff; --c1: #ff9d57; --c2: #5fcf8d; --c3: #cf8cf0;
    --c4: #ff7f9f; --c5: #55c6dc; --c6: #d8b653; --c7: #a9b1bf;
    --k0: hsl(210 45% 42%); --k1: hsl(38 55% 40%); --k2: hsl(140 32% 36%); --k3: hsl(285 28% 46%);
    --k4: hsl(8 42% 46%); --k5: hsl(178 40% 34%); --k6: hsl(55 40% 38%); --k7: hsl(325 30% 48%);
    --k8: hsl(95 30% 40%); --k9: hsl(245 32% 54%); --k10: hsl(25 28% 38%); --k11: hsl(195 22% 48%);
    --k12: hsl(45 8% 42%);
    --right: 95 207 141; --wrong: 255 127 159;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.2rem; max-width: 82rem; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; margin: 0 0 .6rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; font-weight: 500; margin: .8rem 0 .4rem; color: var(--faint); }
i { display: inline-block; width: .75em; height: .75em; margin-right: .45em; border-radius: 50%; background: var(--c); }

#legend, #controls { display: flex; flex-wrap: wrap; gap: .4rem 1rem; align-items: center; margin-bottom: .8rem; }
#legend label { cursor: pointer; }
#legend input { position: absolute; opacity: 0; }
#legend label:focus-within { outline: 2px solid var(--c0); outline-offset: 3px; border-radius: 3px; }
#legend label:has(input:not(:checked)) { opacity: .4; text-decoration: line-through; }
#controls { color: var(--faint); }
#controls > label { display: flex; align-items: center; gap: .3rem; }
.switch { display: flex; align-items: center; padding: 0; margin: 0; border: 0; }
.switch legend { float: left; padding: 0 .5rem 0 0; }
.switch input { position: absolute; opacity: 0; }
.switch span { display: block; padding: .3rem .8rem; border: 1px solid var(--line); background: var(--panel); cursor: pointer; }
.switch label + label span { border-left: 0; }
.switch input:checked + span { background: var(--text); color: var(--back); }
.switch input:focus-visible + span { outline: 2px solid var(--c0); }
.key { display: inline-flex; align-items: center; gap: .35rem; --c: var(--faint); }

#charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; }
@media (min-width: 60em) {
  #charts { grid-template-columns: repeat(6, 1fr); }
  figure { grid-column: span 2; }
  figure:nth-child(-n+2) { grid-column: span 3; }
}
figure { position: relative; margin: 0; padding: .7rem .8rem .4rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; min-width: 0; }
figcaption { font-weight: 600; }
figcaption small { margin-left: .6em; font-weight: 400; color: var(--faint); }
figure svg { display: block; width: 100%; touch-action: pan-y; }
figure text { fill: var(--faint); font-size: 12px; }
.grid { stroke: var(--line); }
.line { fill: none; stroke: var(--c); stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; }
.raw { stroke-width: 1; opacity: .28; }
.test { stroke-width: 2.2; stroke-dasharray: 6 4; }
circle { fill: var(--panel); stroke: var(--c); stroke-width: 1.8; }
.at { stroke: var(--faint); stroke-dasharray: 2 3; }
.values { position: absolute; top: 2.4rem; max-width: 70%; padding: .35rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); box-shadow: 0 2px 8px #0003; font-size: 13px; pointer-events: none; z-index: 1; }
.values div { display: flex; align-items: center; gap: .2rem; }
.values b { margin-left: auto; padding-left: .8rem; font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }

.timeline { margin-bottom: 1rem; padding: .2rem .8rem .6rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.rows { overflow-x: auto; }
.rows svg { display: block; }
.rows text { fill: var(--faint); font-size: 12px; }
.span:hover { stroke: var(--text); }
.told { min-height: 1.45em; margin: .3rem 0; }
.shares { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-variant-numeric: tabular-nums; }
#scale { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: center; color: var(--faint); }
#scale label:not([hidden]) { display: flex; align-items: center; gap: .4rem; }
.note { margin: .4rem 0 .8rem; color: var(--faint); }

.cells { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
.confusion { max-width: 100%; padding: .2rem .8rem .8rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.scroll { overflow-x: auto; }
.matrix { font-size: 13px; border: 0; }
.matrix th, .matrix td { padding: .2rem .3rem; text-align: right; white-space: nowrap; border: 1px solid var(--line); }
.matrix td { min-width: 1.9rem; }
.matrix thead th { vertical-align: bottom; }
.matrix thead th:not(:first-child) span { display: inline-block; max-height: 9rem; overflow: hidden; writing-mode: vertical-rl; transform: rotate(180deg); text-align: left; }
.matrix .right { background: rgb(var(--right) / calc(.1 + .5 * var(--part))); }
.matrix .wrong { background: rgb(var(--wrong) / calc(.12 + .6 * var(--part))); }
.confused td:nth-child(n+3), .confused th:nth-child(n+3) { text-align: right; }

.wide { overflow-x: auto; }
table { border-collapse: collapse; background: var(--panel); border: 1px solid var(--line); overflow-wrap: normal; }
th, td { padding: .35rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-variant-numeric: tabular-nums; }
thead th { font-weight: 500; color: var(--faint); }
tbody th { font-weight: 500; overflow-wrap: anywhere; }
.summary table { width: 100%; }
.summary tbody th, .wide td:last-child { min-width: 8rem; }
.summary td:not(:last-child) { white-space: nowrap; }
.differs { background: var(--mark); font-weight: 600; }
.pairs { width: 100%; }
.pairs tbody { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
.pairs tr { display: flex; justify-content: space-between; border-bottom: 1px solid var(--line); }
.pairs th, .pairs td { border: 0; overflow-wrap: anywhere; }
.remarks { margin: .6rem 0; padding: 0; list-style: none; }
details { margin-top: .8rem; }
summary { cursor: pointer; color: var(--faint); margin-bottom: .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
dt { font-weight: 500; }
dd { margin: 0; color: var(--faint); }

.cards { overflow-x: visible; }
.cards table { display: block; border: 0; background: none; }
.cards thead { display: none; }
.cards tbody { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: .8rem; }
.cards tr { padding: .3rem 0 .5rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.cards tbody th { display: block; border: 0; }
.cards td, .summary.cards td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem .7rem; text-align: right; overflow-wrap: anywhere; white-space: normal; }
.cards td::before { content: attr(data-label); color: var(--faint); font-weight: 400; text-align: left; flex: none; max-width: 60%; }
.cards td.none, .summary.cards td.none { display: none; }
.runs.cards td { border-left: .3rem solid var(--c); }
.runs td:nth-child(8n+2) { --c: var(--c0); }
.runs td:nth-child(8n+3) { --c: var(--c1); }
.runs td:nth-child(8n+4) { --c: var(--c2); }
.runs td:nth-child(8n+5) { --c: var(--c3); }
.runs td:nth-child(8n+6) { --c: var(--c4); }
.runs td:nth-child(8n+7) { --c: var(--c5); }
.runs td:nth-child(8n+8) { --c: var(--c6); }
.runs td:nth-child(8n+9) { --c: var(--c7); }

@media (max-width: 40em) {
  body { padding: .8rem; }
  .values { top: 100%; left: 0 !important; right: 0 !important; max-width: none; }
  .matrix { font-size: 12px; }
  .matrix th, .matrix td { padding: .15rem .2rem; min-width: 1.4rem; }
  .confused th, .confused td { padding: .25rem .4rem; }
}
)css";

}  // namespace tutti::report
