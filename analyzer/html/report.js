/* Puts a report's page together. */

function told(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

/* What a segment of the path was, and who waited for whom. */
function describe(s, report, view) {
  const lane = (l) => nameWords(view.names[l] || `lane ${l}`);
  const on = (file) => file ? ' on ' + shortWords(pathWords(file.path, view.cwd), 70) : '';
  const rows = [['lane', lane(s.lane)],
    ['when', `${timeWords(s.start)} to ${timeWords(s.end)}: ${timeWords(s.end - s.start)}, ${shareWords(s.end - s.start, report.wall_ns)} of the run`]];
  if (s.parts.length > 1)
    rows.push(['made of', s.parts.map(([kind, ns]) => `${KIND_WORDS[kind]} ${timeWords(ns)}`).join(', ')]);
  if (s.op) rows.push([s.pieces > 1 ? 'longest call' : 'call', s.op + on(s.file)]);
  if (s.file) rows.push(['object', `${s.file.object}: ${nameWords(s.file.why) || 'no reason known'}`]);
  if (s.calls) rows.push(['I/O', `${manyWords(s.calls, 'call')}, ${timeWords(s.exposed)} exposed`]);
  if (s.pieces > 1) rows.push(['merged', `of ${manyWords(s.pieces, 'stretch')}, the shorter ones together`]);
  if (s.over) {
    const o = s.over;
    rows.push(['came from', `${lane(o.from)} let ${lane(s.lane)} go on` + (o.op ? ` with ${o.op}${on(o.file)}` : '') + '.' +
      (o.waited ? ` ${lane(s.lane)} had waited ${timeWords(o.waited)}` + (o.waitOp ? ` in ${o.waitOp}${on(o.waitFile)}` : '') + '.' : '')]);
  }
  const title = s.parts.length > 1 ? 'mostly ' + KIND_WORDS[s.kind] : KIND_WORDS[s.kind];
  return [el('h3', {}, `Segment ${s.index + 1} of ${view.path.start_ns.length}: `, swatch(segmentColour(s, s.kind)), ' ' + title),
    el('dl', {}, ...rows.flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)]))];
}

function putPath(report, view, time) {
  const segments = pathSegments(report, view), letters = view.states;
  const wall = time.wall;
  let selected = null;
  const details = el('div', {class: 'details', 'aria-live': 'polite'}, el('p', {}, 'Choose a segment of the path to see what it was, and who waited for whom.'));
  const select = (s, bring) => {
    if (!s) return;
    selected = s;
    details.replaceChildren(...describe(s, report, view));
    if (bring && (s.start < time.from || s.end > time.to || (s.end - s.start) / (time.to - time.from) < 0.002)) {
      const span = Math.min(time.wall, Math.max((s.end - s.start) * 6, wall / 400));
      time.show((s.start + s.end - span) / 2, (s.start + s.end + span) / 2);
    }
    time.redraw();
  };
  const step = (by) => select(selected ? segments[Math.min(segments.length - 1, Math.max(0, selected.index + by))] : segmentAt(segments, time.from), true);
  time.pick = (ns) => segments.length && select(segmentAt(segments, ns));
  const read = (ns) => {
    const s = segments.length && segmentAt(segments, ns);
    return s ? KIND_WORDS[s.kind] + ' ' + timeWords(s.end - s.start) : '';
  };
  const where = el('output', {class: 'where'});
  time.listeners.push(() => { where.textContent = `${axisTime(Math.round(time.from))} to ${axisTime(Math.round(time.to))}`; });
  const button = (words, label, act) => el('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, words);
  const bar = el('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Time shown'},
    button('+', 'Zoom in', () => time.zoom(0.5)), button('\u2212', 'Zoom out', () => time.zoom(2)),
    button('\u2190', 'Earlier', () => time.pan(-0.3)), button('\u2192', 'Later', () => time.pan(0.3)),
    button('All', 'Show the whole run', () => time.show(0, time.wall)),
    button('\u2039 segment', 'Previous segment of the path', () => step(-1)), button('segment \u203a', 'Next segment of the path', () => step(1)), where);
  const keys = {'+': () => time.zoom(0.5), '=': () => time.zoom(0.5), '-': () => time.zoom(2), ArrowLeft: () => time.pan(-0.15), ArrowRight: () => time.pan(0.15),
    Home: () => time.show(0, time.to - time.from), End: () => time.show(time.wall - (time.to - time.from), time.wall), 0: () => time.show(0, time.wall),
    '[': () => step(-1), ']': () => step(1), Enter: () => select(segmentAt(segments, (time.from + time.to) / 2)), Escape: () => time.show(0, time.wall)};
  const tracks = el('div', {class: 'tracks', tabindex: '0', role: 'group', 'aria-label': 'Critical path and lanes over the run', 'aria-describedby': 'path-help',
    onkeydown: (e) => {
      if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
      keys[e.key]();
      e.preventDefault();
    }});
  tracks.append(time.add(38, '', drawAxis(report), (ns) => axisTime(Math.round(ns)), 'axis-track'),
    time.add(52, el('strong', {}, 'critical path'), drawRibbon(segments, () => selected), read));
  for (const lane of view.lanes) {
    const label = el('span', {title: `${lane.kind} of process ${lane.pid}; ${timeWords(lane.path_ns)} of the path`}, nameWords(view.names[lane.lane]));
    tracks.append(time.add(24, label, drawLane(lane, letters, view.lane_columns, wall, segments), null, 'lane ' + lane.kind));
  }
  if (view.rest)
    tracks.append(time.add(24, `${manyWords(view.rest.lanes, 'more lane')}, added up`, drawLane(Object.assign({lane: -1}, view.rest), letters, view.lane_columns, wall, segments), null, 'lane'));
  const names = ['compute', 'gpu', 'sleep', 'wake', 'external', 'unexplained'].filter((k) => segments.some((s) => s.parts.some((p) => p[0] === k)));
  const met = OBJECTS.filter((o) => segments.some((s) => s.file && s.file.object === o && s.parts.some((p) => p[0] === 'io')) || view.lanes.some((l) => l.object.includes(String(OBJECTS.indexOf(o))) && report.objects[OBJECTS.indexOf(o)].service_ns));
  fill('path',
    el('p', {}, 'The path of what the run waited for, from its start to its end: whatever is on it could not have been shorter without the run being shorter, or another path taking its place. Below it what each lane did; the line under a lane is where the path lies in it.'),
    legend(met.map((o) => [o, o + ' I/O']).concat(names.map((k) => [k, KIND_WORDS[k], WAITS.has(k)]), [['lane-waiting', 'a lane that waits']])), bar, tracks,
    el('p', {id: 'path-help', class: 'hint'}, 'Drag to move, Ctrl and wheel or two fingers to zoom, click a segment. Keys: + and \u2212, arrows, 0 for all, [ and ] for segments, Enter for the one in the middle.' +
      (view.path.shortest_ns ? ` Of ${countWords(view.path.stretches)} stretches, those shorter than ${axisTime(view.path.shortest_ns)} are merged with their neighbours.` : '')),
    details, longest(segments, report, view, select));
  time.show(0, time.wall);
}

/* The same for those who do not look at pictures. */
function longest(segments, report, view, select) {
  const rows = segments.slice().sort((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, 100);
  const what = (s) => (s.kind === 'io' && s.file ? `${s.op} ${pathWords(s.file.path, view.cwd)}` : KIND_WORDS[s.kind]);
  return el('details', {class: 'longest'}, el('summary', {}, 'The longest segments as a table'), table('The longest segments of the critical path', [
    {title: 'what', text: true, wide: true, value: what, cell: (s) => el('button', {type: 'button', class: 'link', title: nameWords(what(s)), onclick: () => select(s, true)}, swatch(segmentColour(s, s.kind)), ' ' + shortWords(what(s), 60))},
    {title: 'lane', text: true, value: (s) => view.names[s.lane], cell: (s) => nameWords(view.names[s.lane])},
    {title: 'from', value: (s) => s.start, cell: (s) => timeWords(s.start)},
    {title: 'length', value: (s) => s.end - s.start, cell: (s) => timeWords(s.end - s.start)},
    {title: 'of the run', value: (s) => s.end - s.start, cell: (s) => shareWords(s.end - s.start, report.wall_ns)},
    {title: 'exposed', value: (s) => s.exposed, cell: (s) => timeWords(s.exposed)},
  ], rows, {shown: 12, label: 'Search segments: ', search: (s) => `${what(s)} ${view.names[s.lane]}`}));
}

function putRates(report, view, time) {
  const r = view.rates, columns = r[0].bytes.length, second = time.wall / columns / 1e9;
  const sum = (key, ns) => r.reduce((a, o) => a + o[key][Math.min(columns - 1, Math.floor(ns / time.wall * columns))], 0);
  const tracks = el('div', {class: 'tracks'});
  const rate = (n) => bytesWords(n / second) + '/s', calls = (n) => countWords(Math.round(n / second)) + ' calls/s', exposed = (n) => shareWords(n, second * 1e9) + ' of the time';
  tracks.append(time.add(38, '', drawAxis(report), (ns) => axisTime(Math.round(ns)), 'axis-track'));
  for (const [key, label, words] of [['bytes', 'bytes a second', rate], ['ops', 'calls a second', calls], ['exposed_ns', 'exposed I/O', exposed]])
    tracks.append(time.add(84, label, drawRates(r.map((o) => o[key]), time.wall, words), (ns) => words(sum(key, ns))));
  fill('rates', legend(OBJECTS.filter((o, k) => report.objects[k].service_ns || report.objects[k].bytes).map((o) => [o, o])), tracks);
}

function putQueues(report, view, time) {
  if (!report.queues.length) return drop('queues');
  const tracks = el('div', {class: 'tracks'}, time.add(38, '', drawAxis(report), (ns) => axisTime(Math.round(ns)), 'axis-track'));
  view.queues.forEach((q, k) => {
    const of = report.queues[k];
    tracks.append(time.add(60, el('span', {title: nameWords(of.name)}, swatch(of.object), ' ' + shortWords(nameWords(of.name), 28)), drawQueue(q, time.wall),
      (ns) => String(q.mean[Math.min(q.mean.length - 1, Math.floor(ns / time.wall * q.mean.length))])));
  });
  fill('queues', list(view.words.queues), view.words.pipes && el('p', {}, view.words.pipes), legend([['accent', 'mean length'], ['queue-max', 'at most']]), tracks,
    table('Queues, the longest first', [
      {title: 'queue', text: true, wide: true, value: (q) => q.name, cell: (q) => nameWords(q.name)}, objectColumn(),
      {title: 'from', text: true, value: (q) => q.producer, cell: (q) => nameWords(q.producer)},
      {title: 'to', text: true, value: (q) => q.consumer, cell: (q) => nameWords(q.consumer)},
      {title: 'mean', value: (q) => q.length.mean, cell: (q) => q.length.mean.toFixed(1)},
      {title: 'at most', value: (q) => q.length.max, cell: (q) => countWords(q.length.max)},
      number('messages', 'messages', countWords),
      {title: 'growing', text: true, value: (q) => String(q.growing), cell: (q) => q.growing ? 'yes' : 'no'},
    ], report.queues, {shown: 10, label: 'Search queues: ', search: (q) => `${q.name} ${q.producer} ${q.consumer}`}));
}

function putHead(report, view) {
  const run = report.run, put = (id, text) => { document.getElementById(id).textContent = text ? nameWords(text) : ''; };
  const name = shortWords(nameWords(run.command.join(' ')), 120);
  document.title = 'iotrace: ' + name;
  for (const id of ['verdict', 'composition', 'serialization', 'faults']) put(id, view.words[id]);
  document.getElementById('title').append('of ', el('code', {}, name));
  const facts = [['took', timeWords(report.wall_ns)], ['host', nameWords(run.host)],
    ['started', new Date(run.start_realtime_ns / 1e6).toISOString().replace('T', ' ').slice(0, 19) + ' UTC'],
    ['processes', countWords(run.processes)], ['lanes', countWords(run.lanes)], ['events', countWords(run.events)]];
  if (run.dropped_events) facts.push(['not recorded', manyWords(run.dropped_events, 'event')]);
  document.getElementById('facts').append(...facts.map(([k, v]) => el('div', {}, el('dt', {}, k), el('dd', {}, v))));
}

function putContents() {
  const entries = [...document.querySelectorAll('main section')].map((s) => el('li', {}, el('a', {href: '#' + s.id}, s.dataset.short)));
  document.getElementById('contents').append(...entries);
}

function putReport() {
  const report = told('report'), view = told('view'), time = new TimeWindow(report.wall_ns);
  putHead(report, view);
  fill('made-of', ...madeOf(report));
  fill('ledger', ledgerTable(report));
  putPath(report, view, time);
  fill('advice', list(view.words.advice));
  putRates(report, view, time);
  if (report.total.exposed_ns) fill('curve', curveChart(report, view));
  else drop('curve');
  fill('phases', list(view.words.steps), phasesTable(report), stepsChart(report), report.ranges.length ? rangesTable(report) : null);
  if (report.files.length) fill('files', filesTable(report, view));
  else drop('files');
  if (report.sites.length) fill('sites', sitesTable(report));
  else drop('sites');
  const latencies = OBJECTS.map((o, k) => latencyChart(k, view, report)).filter(Boolean);
  if (latencies.length) fill('latency', el('div', {class: 'multiples'}, ...latencies));
  else drop('latency');
  const sizes = sizesTable(report, view);
  if (sizes) fill('sizes', sizes);
  else drop('sizes');
  const cache = cacheTable(report, view);
  if (cache) fill('cache', cache);
  else drop('cache');
  if (report.waits.length) fill('waits', list(view.words.waits), waitsTable(report, view));
  else drop('waits');
  putQueues(report, view, time);
  fill('unseen', el('h3', {}, 'Not seen'), list(report.run.not_seen.map((s) => s + '.')), el('h3', {}, 'Not proved'), list(report.evidence.map((s) => s + '.')));
  putContents();
  const again = () => time.redraw();
  new ResizeObserver(again).observe(document.querySelector('.tracks'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  addEventListener('beforeprint', () => {
    document.querySelectorAll('details').forEach((d) => { d.open = true; });
    time.paint();
  });
}

putReport();
