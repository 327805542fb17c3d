// SPDX-License-Identifier: Apache-2.0
// How the page looks: colours follow the reader's light or dark setting; below 40 em the charts
// stand in one column and each row of a table becomes a block.
#include "tutti/report/page.h"

namespace tutti::report {

const char* const page_style = R"css(
:root {
  --back: #fafaf8; --panel: #fff; --text: #1c1d20; --faint: #686b73; --line: #e2e2de; --mark: #fff0c2;
  --c0: #2563c9; --c1: #d2540b; --c2: #1f8a4c; --c3: #9333b5;
  --c4: #c3224f; --c5: #0c7c92; --c6: #8a6a10; --c7: #5a6270;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #131417; --panel: #1c1e22; --text: #e7e7e4; --faint: #9a9da6; --line: #33363c; --mark: #4a3d12;
    --c0: #6ea3ff; --c1: #ff9d57; --c2: #5fcf8d; --c3: #cf8cf0;
    --c4: #ff7f9f; --c5: #55c6dc; --c6: #d8b653; --c7: #a9b1bf;
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
.told:empty::before { content: 'Point at a box to see what it is: times are of the first rank below, messages in grey.'; color: var(--faint); }
.shares { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-variant-numeric: tabular-nums; }
.shares label { display: flex; align-items: center; gap: .4rem; color: var(--faint); margin-left: auto; }

.wide { overflow-x: auto; }
table { border-collapse: collapse; background: var(--panel); border: 1px solid var(--line); }
th, td { padding: .35rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-variant-numeric: tabular-nums; }
thead th { font-weight: 500; color: var(--faint); }
tbody th { font-weight: 500; }
.summary table { width: 100%; }
.summary td:not(:last-child) { white-space: nowrap; }
.differs { background: var(--mark); font-weight: 600; }
.pairs { width: 100%; }
.pairs tbody { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 24rem), 1fr)); }
.pairs tr { display: flex; justify-content: space-between; border-bottom: 1px solid var(--line); }
.pairs th, .pairs td { border: 0; }
details { margin-top: .8rem; }
summary { cursor: pointer; color: var(--faint); margin-bottom: .4rem; }

@media (max-width: 40em) {
  body { padding: .8rem; }
  .values { top: 100%; left: 0 !important; right: 0 !important; max-width: none; }
  .wide table, .wide tbody, .wide tr, .wide tbody th { display: block; }
  .wide thead { display: none; }
  .wide tbody th { border: 0; padding-bottom: 0; }
  .wide tr { border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
  .wide td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem .7rem; white-space: normal; }
  .wide td::before { content: attr(data-label); color: var(--faint); font-weight: 400; }
}
)css";

}  // namespace tutti::report
