// SPDX-License-Identifier: Apache-2.0
// What ranks did in one step of each run: a row for what a rank computes and rows for its messages,
// all on one scale of time. An operator has the same colour everywhere.
#include "tutti/report/page.h"
#include "tutti/report/sections.h"
#include "tutti/report/texts.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::report {
namespace {

std::string heading(const Run& run) {
  double end = 0;
  for (const Span& span : run.timeline) end = std::max(end, span.start + span.seconds);
  std::string text =
      fmt::format("{}, step {:.0f}: {}", escaped(run.name), run.timeline_step, brief_duration(end));
  const std::vector<double>& all = run.timeline_seconds;
  if (all.size() < 2) return text;
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  return text + fmt::format(", the median of {} steps of {} to {}", all.size(),
                            brief_duration(*least), brief_duration(*most));
}

constexpr const char* scale_controls = R"(<form id="scale">
<label><input type="checkbox" name="same" checked>the same scale of time for all</label>
<label>zoom <input type="range" name="zoom" min="0" max="6" step="1" value="0"></label>
</form>
<p class="note">What each rank computes, and below it in grey its messages; light grey: it waits. Below that, what rank 0
spends its time with, in ms and µs (thousandths and millionths of a second) and as a part of the step. Point at a box to
see what it is.</p>
)";

}  // namespace

std::string timeline_section(const std::vector<Run>& runs) {
  std::string html;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].timeline.empty())
      html += fmt::format(
          "<section class=\"timeline\" data-run=\"{}\"><h3 {}><i></i>{}</h3>"
          "<div class=\"rows\"></div><p class=\"told\"></p><div class=\"sums\"></div></section>\n",
          i, color_of(i), heading(runs[i]));
  return html.empty() ? "" : std::string("<h2>Time line of a step</h2>\n") + scale_controls + html;
}

const char* const timeline_script = R"js(
const scaleForm = document.getElementById('scale');
const inUnits = s => s >= 1 ? plain(s) + ' s' : s >= 1e-3 ? plain(1e3 * s) + ' ms' : plain(1e6 * s) + ' µs';
const timelines = [...document.querySelectorAll('.timeline')].map(section => {
  const spans = runs[section.dataset.run].timeline.map(([rank, message, lane, name, detail, start, seconds, bytes]) =>
    ({rank, message, lane, name, detail, start, seconds, bytes, kind: name.startsWith('wait for ') ? 'wait' : name.split(' of ')[0]}));
  return {section, spans, end: Math.max(...spans.map(s => s.start + s.seconds))};
});

// Operators by the time they take.
function kindsOf(spans) {
  const sums = new Map();
  for (const s of spans) if (!s.message) sums.set(s.kind, (sums.get(s.kind) ?? 0) + s.seconds);
  return [...sums].sort((a, b) => b[1] - a[1]);
}

// An operator has one colour in all time lines; the most different ones go to those that matter,
// by their part of the steps.
const operatorColors = 12;
const ranked = (() => {
  const parts = new Map();
  for (const {spans, end} of timelines)
    for (const [kind, seconds] of kindsOf(spans)) if (kind !== 'wait') parts.set(kind, (parts.get(kind) ?? 0) + seconds / end);
  return [...parts].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
})();
function fill({message, kind}) {
  if (message) return 'var(--faint)';
  if (kind === 'wait') return 'var(--line)';
  return `var(--k${Math.min(operatorColors, ranked.indexOf(kind))})`;
}

function drawTimeline({section, spans, end}) {
  const rows = [...new Map(spans.map(s => [`${s.rank} ${s.message} ${s.lane}`, s])).values()]
      .sort((a, b) => a.rank - b.rank || a.message - b.message || a.lane - b.lane);
  const holder = section.querySelector('.rows'), left = 96, top = 20;
  let height = top;
  const places = new Map();
  for (const row of rows) {
    const rowHeight = row.message ? 12 : 24;
    places.set(`${row.rank} ${row.message} ${row.lane}`, {y: height, height: rowHeight});
    height += rowHeight;
  }
  height += 4;
  const scale = scaleForm.same.checked ? Math.max(...timelines.map(line => line.end)) : end;
  const shown = Math.max(240, holder.clientWidth), perSecond = (shown * 2 ** scaleForm.zoom.value - left - 6) / scale;
  const X = t => left + t * perSecond, width = Math.max(shown, X(end) + 6);
  const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'time line of a step'});
  for (const t of ticks(0, (width - left - 6) / perSecond * 1e3, Math.max(2, Math.floor(width / 100)))) {
    picture.append(svg('path', {class: 'grid', d: `M${X(t / 1e3)} ${top - 4}V${height}`}));
    picture.append(svg('text', {x: X(t / 1e3), y: 12, 'text-anchor': t === 0 ? 'start' : X(t / 1e3) > width - 30 ? 'end' : 'middle'}, plain(t) + ' ms'));
  }
  for (const row of rows)
    if (row.lane === 0) picture.append(svg('text', {x: 0, y: places.get(`${row.rank} ${row.message} 0`).y + (row.message ? 10 : 16)}, row.message ? '· messages' : `rank ${row.rank}`));
  for (const s of spans) {
    const place = places.get(`${s.rank} ${s.message} ${s.lane}`);
    const box = svg('rect', {x: X(s.start), y: place.y + 1, height: place.height - 2, width: Math.max(.7, s.seconds * perSecond), fill: fill(s), class: 'span', 'data-kind': s.kind});
    box.onpointerenter = box.onpointerdown = () => {
      section.querySelector('.told').textContent = `${s.name}${s.detail ? ` (${s.detail})` : ''}: ${inUnits(s.seconds)}, at ${inUnits(s.start)}${s.bytes ? `, ${bytes(s.bytes)}` : ''}`;
    };
    picture.append(box);
  }
  holder.replaceChildren(picture);
  const list = element('div', 'shares');
  for (const [kind, seconds] of kindsOf(spans.filter(s => s.rank === 0)).slice(0, 10)) {
    const entry = element('span'), dot = element('i');
    dot.style.setProperty('--c', fill({kind, message: 0}));
    entry.append(dot, `${kind === 'wait' ? 'waiting for messages' : kind} ${inUnits(seconds)} (${percent(+(seconds / end).toPrecision(2))})`);
    list.append(entry);
  }
  section.querySelector('.sums').replaceChildren(list);
}

if (timelines.length > 0) {
  const drawTimelines = () => timelines.forEach(drawTimeline);
  scaleForm.same.closest('label').hidden = timelines.length === 1;
  scaleForm.addEventListener('change', drawTimelines);
  scaleForm.addEventListener('submit', event => event.preventDefault());
  addEventListener('resize', drawTimelines);
  drawTimelines();
}
)js";

}  // namespace tutti::report
