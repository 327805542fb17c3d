// SPDX-License-Identifier: Apache-2.0
// The script that fits tables to the width and draws the charts: each is one SVG, drawn anew when a
// control or the width changes.
#include "tutti/report/page.h"

namespace tutti::report {

const char* const page_script = R"js(
'use strict';
const runs = JSON.parse(document.getElementById('runs').textContent);
const form = document.getElementById('controls');
const percent = v => +(100 * v).toPrecision(4) + ' %';
const plain = v => String(+v.toPrecision(4));
const short = v => v >= 1e6 ? +(v / 1e6).toPrecision(4) + ' M' : v >= 1e4 ? +(v / 1e3).toPrecision(4) + ' k' : plain(v);
const bytes = v => v >= 1e9 ? plain(v / 1e9) + ' GB' : v >= 1e6 ? plain(v / 1e6) + ' MB' : v >= 1e3 ? plain(v / 1e3) + ' kB' : plain(v) + ' B';
const charts = [
  {key: 'loss', title: 'loss', note: 'mean over samples', text: plain, log: true},
  {key: 'accuracy', title: 'accuracy', note: 'part of samples told right', text: percent},
  {key: 'absolute_error', title: 'absolute error', note: 'in the unit of the targets', text: plain, log: true},
  {key: 'gradient_norm', title: 'gradient norm', note: 'its Euclidean length', text: plain},
  {key: 'rate', title: 'learning rate', note: 'factor of a step', text: plain, smooth: false},
  {key: 'samples_per_second', title: 'speed', note: 'samples per second', text: short},
  {key: 'sent_bytes', title: 'sent', note: 'by rank 0 in a step', text: bytes, smooth: false, some: true},
].filter(chart => runs.some(run => [...run.training[chart.key], ...run.test[chart.key]].some(v => v !== null && (v > 0 || !chart.some))));

const svg = (name, attributes, text) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
};
const element = (name, className, text) => Object.assign(document.createElement(name), {className, textContent: text ?? ''});

// Round numbers from lo to hi.
function ticks(lo, hi, most) {
  const rough = (hi - lo) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(m => m * power >= rough) * power;
  const result = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; ++i) result.push(i * step);
  return result;
}
function logTicks(lo, hi, most) {
  const from = Math.floor(Math.log10(lo)), to = Math.ceil(Math.log10(hi));
  if (to - from > most) return ticks(from, to, most).filter(Number.isInteger).map(e => 10 ** e);
  const all = [];
  for (let e = from; e <= to; ++e) for (const m of [1, 2, 5]) all.push(m * 10 ** e);
  return all.filter(v => v >= lo && v <= hi);
}

// An exponential mean whose first values are not pulled towards 0.
function smoothed(values) {
  let sum = 0, weight = 0;
  return values.map(v => {
    if (v === null) return null;
    sum = .9 * sum + .1 * v;
    weight = .9 * weight + .1;
    return sum / weight;
  });
}

// What is to be drawn: per shown run the training curve, raw and perhaps smoothed, and the test curve.
function curvesOf(chart) {
  const shown = [...document.getElementsByName('run')].map(box => box.checked);
  const logarithmic = chart.log && form.log.checked;
  const curves = [];
  runs.forEach((run, index) => ['training', 'test'].forEach(part => {
    const y = run[part][chart.key].map(v => logarithmic && v <= 0 ? null : v);
    if (!shown[index] || y.every(v => v === null)) return;
    const smooth = part === 'training' && form.smooth.checked && chart.smooth !== false && y.length > 20;
    curves.push({index, part, x: run[part][form.x.value], raw: smooth ? y : null, y: smooth ? smoothed(y) : y});
  }));
  return curves;
}

function range(values, least) {
  let lo = Infinity, hi = -Infinity;
  for (const v of values) if (v !== null) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
  if (lo > hi) return [0, 1];
  if (least !== undefined) lo = Math.min(lo, least);
  return lo === hi ? [lo - (Math.abs(lo) || 1) / 2, hi + (Math.abs(hi) || 1) / 2] : [lo, hi];
}

function path(x, y, X, Y) {
  let d = '', open = false;
  y.forEach((v, i) => {
    if (v === null || x[i] === null) { open = false; return; }
    d += (open ? 'L' : 'M') + X(x[i]).toFixed(1) + ' ' + Y(v).toFixed(1) + (open ? '' : 'h0');
    open = true;
  });
  return d;
}

// Time in the largest unit that makes it at least 2.
function timeUnit(seconds) {
  return [[3600, 'hours'], [60, 'minutes']].find(([length]) => seconds >= 2 * length) ?? [1, 'seconds'];
}

function draw(chart) {
  const figure = chart.figure, curves = curvesOf(chart), over = form.x.value;
  const width = Math.max(240, figure.clientWidth - 26), height = Math.round(Math.min(300, Math.max(200, width * .55)));
  const left = 64, right = 14, top = 10, bottom = 40;
  const logarithmic = chart.log && form.log.checked;
  const [xLo, xHi] = range(curves.flatMap(c => c.x), 0);
  let [yLo, yHi] = range(curves.flatMap(c => [...c.y, ...(c.raw ?? [])]));
  if (!logarithmic && yLo > 0 && yLo < .3 * yHi) yLo = 0;
  const scale = logarithmic ? Math.log : v => v;
  const pad = (scale(yHi) - scale(yLo)) * .04;
  const X = v => left + (v - xLo) / (xHi - xLo) * (width - left - right);
  const Y = v => height - bottom - (scale(v) - scale(yLo) + pad) / (scale(yHi) - scale(yLo) + 2 * pad) * (height - top - bottom);
  const unit = over === 'seconds' ? timeUnit(xHi) : [1, {step: 'steps', samples: 'samples'}[over]];

  const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${chart.title} over ${unit[1]}`});
  for (const v of (logarithmic ? logTicks : ticks)(yLo, yHi, 5)) {
    picture.append(svg('path', {class: 'grid', d: `M${left} ${Y(v)}H${width - right}`}));
    picture.append(svg('text', {x: left - 8, y: Y(v) + 4, 'text-anchor': 'end'}, chart.text(v)));
  }
  for (const v of ticks(xLo / unit[0], xHi / unit[0], Math.max(2, Math.floor(width / 80))))
    picture.append(svg('text', {x: X(v * unit[0]), y: height - bottom + 18, 'text-anchor': 'middle'}, short(v)));
  picture.append(svg('text', {x: (left + width - right) / 2, y: height - 5, 'text-anchor': 'middle'}, unit[1]));
  for (const c of curves) {
    const of = {style: `--c:var(--c${c.index % 8})`, 'data-run': runs[c.index].name, 'data-part': c.part};
    if (c.raw) picture.append(svg('path', {class: 'line raw', d: path(c.x, c.raw, X, Y), ...of}));
    picture.append(svg('path', {class: 'line ' + c.part, d: path(c.x, c.y, X, Y), ...of}));
    if (c.part === 'test' && c.y.length <= 40)
      c.y.forEach((v, i) => v !== null && picture.append(svg('circle', {cx: X(c.x[i]), cy: Y(v), r: 3, style: of.style})));
  }
  picture.append(svg('path', {class: 'at'}));
  const caption = element('figcaption', '', chart.title);
  caption.append(element('small', '', chart.note));
  figure.replaceChildren(caption, picture);
  const back = px => xLo + (px - left) / (width - left - right) * (xHi - xLo);
  picture.onpointermove = picture.onpointerdown = event => point(chart, picture, curves, event, {X, back, unit, width, top, floor: height - bottom});
  picture.onpointerleave = event => event.pointerType === 'touch' || unpoint();  // a tap's values stay
}

function unpoint() {
  document.querySelectorAll('.at').forEach(line => line.removeAttribute('d'));
  document.querySelectorAll('.values').forEach(list => list.remove());
}

// The values nearest to the pointer, of all curves.
function point(chart, picture, curves, event, {X, back, unit, width, top, floor}) {
  const box = picture.getBoundingClientRect();
  const wanted = back((event.clientX - box.left) * width / box.width);
  const nearest = curves.map(c => c.x.reduce((best, v, i) => v !== null && c.y[i] !== null && (best < 0 || Math.abs(v - wanted) < Math.abs(c.x[best] - wanted)) ? i : best, -1));
  const at = curves.map((c, k) => c.x[nearest[k]]).filter(v => v !== undefined).sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0];
  unpoint();
  if (at === undefined) return;
  picture.querySelector('.at').setAttribute('d', `M${X(at)} ${top}V${floor}`);
  const list = element('div', 'values');
  list.append(element('div', '', `${short(at / unit[0])} ${unit[1]}`));
  curves.forEach((c, k) => {
    const row = element('div'), dot = element('i');
    dot.style.setProperty('--c', `var(--c${c.index % 8})`);
    row.append(dot, `${runs[c.index].name}, ${c.part}`, element('b', '', nearest[k] < 0 ? '–' : chart.text(c.y[nearest[k]])));
    list.append(row);
  });
  list.style[X(at) < width / 2 ? 'right' : 'left'] = X(at) < width / 2 ? '1rem' : '4.6rem';
  chart.figure.append(list);
}

// ---- tables whose columns don't fit become cards ----

let fittedWidth = 0;
function fitTables() {
  if (document.body.clientWidth === fittedWidth) return;
  fittedWidth = document.body.clientWidth;
  for (const wide of document.querySelectorAll('.wide')) {
    wide.classList.remove('cards');
    wide.classList.toggle('cards', wide.scrollWidth > wide.clientWidth + 1);
  }
}
new ResizeObserver(fitTables).observe(document.body);
fitTables();

const drawAll = () => charts.forEach(draw);
for (const chart of charts) document.getElementById('charts').append(chart.figure = element('figure'));
drawAll();
form.addEventListener('change', drawAll);
form.addEventListener('submit', event => event.preventDefault());
document.getElementById('legend').addEventListener('change', drawAll);
addEventListener('resize', drawAll);
)js";

}  // namespace tutti::report
