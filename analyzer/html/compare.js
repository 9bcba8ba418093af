/* Puts a comparison's page together: its verdict, and the middle run of each side. */

const SIDES = ['base', 'candidate'];
const STATE_SIGNS = {regressed: '\u25b2 ', improved: '\u25bc ', unchanged: '= ', inconclusive: '? ', 'not comparable': '\u2260 ', missing: '\u2013 '};

function metricWords(m, value) {
  if (value === null) return '\u2013';
  if (m.unit === 'ns') return timeWords(value);
  if (m.kind === 'bytes') return bytesWords(value);
  return m.kind === 'count' ? countWords(value) : String(Number(value.toPrecision(3)));
}

function changeWords(m) {
  if (m.base === null || m.candidate === null) return '\u2013';
  const by = m.shift;
  if (!by) return '0';
  const share = m.base ? ` (${by > 0 ? '+' : '\u2212'}${shareWords(Math.abs(by), Math.abs(m.base))})` : '';
  return (by > 0 ? '+' : '\u2212') + metricWords(m, Math.abs(by)) + share;
}

function metricsTable(comparison) {
  const rows = comparison.metrics, order = Object.keys(STATE_SIGNS);
  const sign = (state) => STATE_SIGNS[state.replace(/_/g, ' ')] || '';
  return table('Figures, gated ones first', [
    {title: 'metric', text: true, wide: true, value: (m) => m.metric, cell: (m) => nameWords(m.metric)},
    {title: 'state', text: true, value: (m) => String(order.indexOf(m.state.replace(/_/g, ' '))),
      cell: (m) => el('span', {class: 'state state-' + m.state}, sign(m.state) + m.state.replace(/_/g, ' '))},
    {title: 'base', value: (m) => m.base, cell: (m) => metricWords(m, m.base)},
    {title: 'candidate', value: (m) => m.candidate, cell: (m) => metricWords(m, m.candidate)},
    {title: 'change', value: (m) => m.base ? m.shift / m.base : null, cell: changeWords},
    {title: 'level', text: true, value: (m) => m.level, cell: (m) => m.level},
    {title: 'why', text: true, value: (m) => m.reason || '', cell: (m) => el('span', {class: 'why'}, [m.reason, ...m.why].filter(Boolean).map(nameWords).join('; '))},
  ], rows, {shown: 20, label: 'Search figures: ', search: (m) => `${m.metric} ${m.state} ${m.reason || ''} ${m.why.join(' ')}`});
}

/* Both on one scale, so that the longer one is longer. */
function bothMadeOf(reports) {
  const most = Math.max(...reports.map((r) => r.wall_ns));
  const kinds = new Map();
  const bars = reports.map((report, side) => {
    const parts = report.objects.map((o) => [o.object, o.exposed_ns, o.object + ' I/O'])
      .concat(Object.keys(KIND_WORDS).filter((k) => k !== 'io').map((k) => [k, report.path[k + '_ns'], KIND_WORDS[k]]))
      .filter((p) => p[1] > 0);
    for (const [name, , words] of parts) kinds.set(name, words);
    const say = ([, ns, words]) => `${words} ${timeWords(ns)} (${shareWords(ns, report.wall_ns)})`;
    const bar = stackedBar(parts.map((p) => [p[0], p[1], say(p)]), most, `${SIDES[side]}, ${timeWords(report.wall_ns)}: ` + parts.map(say).join(', '));
    bar.classList.add('tall');
    return el('div', {class: 'track'}, el('div', {class: 'track-label'}, el('strong', {}, SIDES[side]), ' ' + timeWords(report.wall_ns)), bar);
  });
  return [...bars, legend([...kinds])];
}

function change(before, after) {
  return after === before ? '0' : (after > before ? '+' : '') + timeWords(after - before);
}

function bothLedgers(reports) {
  const rows = OBJECTS.map((object, k) => ({object, sides: reports.map((r) => r.objects[k])}));
  const most = Math.max(...rows.flatMap((r) => r.sides.map((s) => s.service_ns)));
  const bar = (s, object) => stackedBar([[object, s.exposed_ns, 'exposed ' + timeWords(s.exposed_ns)], [object, s.hidden_ns, 'hidden ' + timeWords(s.hidden_ns), true]],
    most, `exposed ${timeWords(s.exposed_ns)}, hidden ${timeWords(s.hidden_ns)}`);
  const pair = (title, key, words) => SIDES.map((side, k) => ({title: `${title}, ${side}`, value: (r) => r.sides[k][key], cell: (r) => words(r.sides[k][key])}));
  return el('div', {}, legend([['ink', 'exposed: makes the run longer'], ['ink', 'hidden: other work went on', true]]),
    table('I/O by object: above the base, below the candidate', [objectColumn(),
      {title: 'base above candidate', wide: true, value: (r) => r.sides[1].exposed_ns, cell: (r) => el('div', {class: 'pair'}, bar(r.sides[0], r.object), bar(r.sides[1], r.object))},
      ...pair('exposed', 'exposed_ns', timeWords),
      {title: 'change', value: (r) => r.sides[1].exposed_ns - r.sides[0].exposed_ns, cell: (r) => change(r.sides[0].exposed_ns, r.sides[1].exposed_ns)},
      ...pair('service', 'service_ns', timeWords), ...pair('bytes', 'bytes', bytesWords)], rows));
}

function bothFiles(reports) {
  const by = new Map(), none = {exposed_ns: 0, service_ns: 0, bytes: 0, data_ops: 0};
  reports.forEach((report, side) => {
    for (const f of report.files) {
      const key = f.object + '\0' + f.path;
      if (!by.has(key)) by.set(key, {path: f.path, object: f.object, sides: [none, none]});
      by.get(key).sides[side] = f;
    }
  });
  const rows = [...by.values()];
  rows.forEach((r) => { r.change = r.sides[1].exposed_ns - r.sides[0].exposed_ns; });
  rows.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const pair = (title, key, words) => SIDES.map((side, k) => ({title: `${title}, ${side}`, value: (r) => r.sides[k][key], cell: (r) => words(r.sides[k][key])}));
  return table('Files, those whose exposed time changed most first', [
    {title: 'file', text: true, wide: true, value: (r) => r.path, cell: (r) => filePath(r.path, '', 60)},
    objectColumn(), ...pair('exposed', 'exposed_ns', timeWords),
    {title: 'change', value: (r) => r.change, cell: (r) => change(r.sides[0].exposed_ns, r.sides[1].exposed_ns)},
    ...pair('calls', 'data_ops', countWords)], rows, {shown: 15, label: 'Search files: ', search: (r) => `${r.path} ${r.object}`});
}

/* One time for both: a moment of the one is beside the same moment of the other. */
function bothPaths(reports, views) {
  const time = new TimeWindow(Math.max(...reports.map((r) => r.wall_ns)));
  let chosen = null; /* [side, segment] */
  const segments = reports.map((r, k) => views[k] ? pathSegments(r, views[k]) : []);
  const details = el('div', {class: 'details', 'aria-live': 'polite'}, el('p', {}, 'Choose a segment of a path to see what it was, and who waited for whom.'));
  const select = (side, s) => {
    if (!s) return;
    chosen = [side, s];
    details.replaceChildren(el('p', {class: 'kicker'}, SIDES[side]), ...describe(s, reports[side], views[side]));
    time.redraw();
  };
  const first = segments[0].length ? 0 : 1;
  const step = (by) => {
    const [side, s] = chosen || [first, null];
    const next = s ? segments[side][Math.min(segments[side].length - 1, Math.max(0, s.index + by))] : segmentAt(segments[side], time.from);
    select(side, next);
    if (next && (next.start < time.from || next.end > time.to)) time.show(next.start - (time.to - time.from) / 2, next.start + (time.to - time.from) / 2);
  };
  const keys = timeKeys(time, step, () => select(first, segmentAt(segments[first], (time.from + time.to) / 2)));
  const tracks = keyedTracks('Critical paths of both runs', keys);
  reports.forEach((report, k) => {
    const view = views[k];
    if (!view) {
      tracks.append(el('p', {}, `The ${SIDES[k]} is a report, not a trace: its path is not in it.`));
      return;
    }
    tracks.append(time.add(38, '', drawAxis(report), (ns) => axisTime(Math.round(ns)), 'axis-track'),
      time.add(52, el('strong', {}, SIDES[k]), drawRibbon(segments[k], () => chosen && chosen[0] === k ? chosen[1] : null), (ns) => {
        const s = segments[k].length && ns < report.wall_ns && segmentAt(segments[k], ns);
        return s ? KIND_WORDS[s.kind] + ' ' + timeWords(s.end - s.start) : '';
      }));
    const canvas = time.tracks[time.tracks.length - 1];
    canvas.pick = (ns) => segments[k].length && ns < report.wall_ns && select(k, segmentAt(segments[k], ns));
    for (const lane of view.lanes.slice(0, 8))
      tracks.append(time.add(20, nameWords(view.names[lane.lane]), drawLane(lane, view.states, view.lane_columns, report.wall_ns, segments[k]), null, 'lane'));
  });
  if (segments[0].length || segments[1].length)
    fill('path', pathLegend(segments.flat(), views.filter(Boolean), reports), timeTools(time, step), tracks, el('p', {id: 'path-help', class: 'hint'}, PATH_HELP), details);
  else drop('path');
  time.show(0, time.wall);
  return time;
}

function putComparison() {
  const comparison = told('comparison'), reports = SIDES.map((s) => told('report-' + s));
  const views = SIDES.map((s) => document.getElementById('view-' + s) && told('view-' + s));
  document.getElementById('verdict').textContent = nameWords(comparison.verdict);
  document.getElementById('title').append(...SIDES.flatMap((s, k) => [k ? ' to ' : ' of ', el('code', {}, shortWords(nameWords(comparison[s][0] || ''), 60)), comparison[s].length > 1 ? ` and ${comparison[s].length - 1} more` : '']));
  document.getElementById('facts').append(...SIDES.map((s, k) => el('div', {}, el('dt', {}, s), el('dd', {}, `${manyWords(comparison[s].length, 'run')}; the middle one took ${timeWords(reports[k].wall_ns)}`))));
  fill('metrics', metricsTable(comparison));
  fill('made-of', ...bothMadeOf(reports));
  fill('ledger', bothLedgers(reports));
  const time = bothPaths(reports, views);
  const gpus = bothGpus(reports);
  if (gpus) fill('gpus', gpus);
  else drop('gpus');
  fill('files', bothFiles(reports));
  const notes = Object.entries(comparison.not_comparable).filter(([, why]) => why).map(([what, why]) => `${what}: ${why}`).concat(comparison.notes);
  if (notes.length) fill('unseen', list(notes));
  else drop('unseen');
  const again = () => time.redraw();
  const shown = document.querySelector('.tracks');
  if (shown) new ResizeObserver(again).observe(shown);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  addEventListener('beforeprint', () => time.paint());
}

putComparison();
