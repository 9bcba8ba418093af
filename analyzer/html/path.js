/* The critical path and the lanes: what a segment was, and the controls of the time shown. */

function told(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

/* What a segment of the path was, and who waited for whom. */
function describe(s, report, view) {
  const lane = (l) => nameWords(view.names[l] || `lane ${l}`);
  const on = (file) => file ? ' on ' + shortWords(fileWords(file.path, view.cwd), 70) : '';
  const rows = [['lane', lane(s.lane)],
    ['when', `${axisTime(s.start)} to ${axisTime(s.end)}: ${timeWords(s.end - s.start)}, ${shareWords(s.end - s.start, report.wall_ns)} of the run`]];
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

/* Buttons for the window; `step` goes to the next or the previous segment. */
function timeTools(time, step) {
  const where = el('output', {class: 'where'});
  time.listeners.push(() => { where.textContent = `${axisTime(Math.round(time.from))} to ${axisTime(Math.round(time.to))}`; });
  const button = (words, label, act) => el('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, words);
  return el('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Time shown'},
    button('+', 'Zoom in', () => time.zoom(0.5)), button('\u2212', 'Zoom out', () => time.zoom(2)),
    button('\u2190', 'Earlier', () => time.pan(-0.3)), button('\u2192', 'Later', () => time.pan(0.3)),
    button('All', 'Show the whole run', () => time.show(0, time.wall)),
    button('\u2039 segment', 'Previous segment of the path', () => step(-1)), button('segment \u203a', 'Next segment of the path', () => step(1)), where);
}

function timeKeys(time, step, enter) {
  const all = () => time.show(0, time.wall);
  return {'+': () => time.zoom(0.5), '=': () => time.zoom(0.5), '-': () => time.zoom(2), ArrowLeft: () => time.pan(-0.15), ArrowRight: () => time.pan(0.15),
    Home: () => time.show(0, time.to - time.from), End: () => time.show(time.wall - (time.to - time.from), time.wall),
    0: all, Escape: all, '[': () => step(-1), ']': () => step(1), Enter: enter};
}

function keyedTracks(label, keys) {
  return el('div', {class: 'tracks', tabindex: '0', role: 'group', 'aria-label': label, 'aria-describedby': 'path-help',
    onkeydown: (e) => {
      if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
      keys[e.key]();
      e.preventDefault();
    }});
}

const PATH_HELP = 'Drag to move, Ctrl and wheel or two fingers to zoom, click a segment. Keys: + and \u2212, arrows, 0 for all, [ and ] for segments, Enter for the one in the middle.';

/* What is there to be seen. */
function pathLegend(segments, views, reports) {
  const has = (k, o) => segments.some((s) => (!o || s.object === o) && s.parts.some((p) => p[0] === k));
  const objects = OBJECTS.filter((o, k) => has('io', o) || reports.some((r) => r.objects[k].service_ns));
  const kinds = Object.keys(KIND_WORDS).filter((k) => k !== 'io' && has(k));
  const waits = views.some((v) => v.lanes.some((l) => l.state.includes('w')));
  return legend(objects.map((o) => [o, o + ' I/O']).concat(kinds.map((k) => [k, KIND_WORDS[k], WAITS.has(k)]), waits ? [['lane-waiting', 'a lane that waits']] : []));
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
  const bar = timeTools(time, step), keys = timeKeys(time, step, () => select(segmentAt(segments, (time.from + time.to) / 2)));
  const tracks = keyedTracks('Critical path and lanes over the run', keys);
  tracks.append(time.add(38, '', drawAxis(report), (ns) => axisTime(Math.round(ns)), 'axis-track'),
    time.add(52, el('strong', {}, 'critical path'), drawRibbon(segments, () => selected), read));
  for (const lane of view.lanes) {
    const label = el('span', {title: `${lane.kind} of process ${lane.pid}; ${timeWords(lane.path_ns)} of the path`}, nameWords(view.names[lane.lane]));
    tracks.append(time.add(24, label, drawLane(lane, letters, view.lane_columns, wall, segments), null, 'lane ' + lane.kind));
  }
  if (view.rest)
    tracks.append(time.add(24, `${manyWords(view.rest.lanes, 'more lane')}, added up`, drawLane(Object.assign({lane: -1}, view.rest), letters, view.lane_columns, wall, segments), null, 'lane'));
  fill('path',
    el('p', {}, 'The path of what the run waited for, from its start to its end: whatever is on it could not have been shorter without the run being shorter, or another path taking its place. Below it what each lane did; the line under a lane is where the path lies in it.'),
    pathLegend(segments, [view], [report]), bar, tracks,
    el('p', {id: 'path-help', class: 'hint'}, PATH_HELP +
      (view.path.shortest_ns ? ` Of ${countWords(view.path.stretches)} stretches, those shorter than ${axisTime(view.path.shortest_ns)} are merged with their neighbours.` : '')),
    details, longest(segments, report, view, select));
  time.show(0, time.wall);
}

/* The same for those who do not look at pictures. */
function longest(segments, report, view, select) {
  const rows = segments.slice().sort((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, 100);
  const what = (s) => (s.kind === 'io' && s.file ? `${s.op} ${fileWords(s.file.path, view.cwd)}` : KIND_WORDS[s.kind]);
  return el('details', {class: 'longest'}, el('summary', {}, 'The longest segments as a table'), table('The longest segments of the critical path', [
    {title: 'what', text: true, wide: true, value: what, cell: (s) => el('button', {type: 'button', class: 'link', title: nameWords(what(s)), onclick: () => select(s, true)}, swatch(segmentColour(s, s.kind)), ' ' + shortWords(what(s), 60))},
    {title: 'lane', text: true, value: (s) => view.names[s.lane], cell: (s) => nameWords(view.names[s.lane])},
    {title: 'from', value: (s) => s.start, cell: (s) => timeWords(s.start)},
    {title: 'length', value: (s) => s.end - s.start, cell: (s) => timeWords(s.end - s.start)},
    {title: 'of the run', value: (s) => s.end - s.start, cell: (s) => shareWords(s.end - s.start, report.wall_ns)},
    {title: 'exposed', value: (s) => s.exposed, cell: (s) => timeWords(s.exposed)},
  ], rows, {shown: 12, label: 'Search segments: ', search: (s) => `${what(s)} ${view.names[s.lane]}`}));
}
