/* Pictures without a time axis of the run. */

/* What the wall time is made of: exposed I/O by object, and the other parts of the path. */
function madeOf(report) {
  const parts = report.objects.map((o) => [o.object, o.exposed_ns, `${o.object} I/O`])
    .concat(['compute', 'gpu', 'sleep', 'wake', 'external', 'unexplained']
      .map((k) => [k, report.path[k + '_ns'], KIND_WORDS[k]]))
    .filter((p) => p[1] > 0);
  const say = ([, ns, words]) => `${words} ${timeWords(ns)} (${shareWords(ns, report.wall_ns)})`;
  const bar = stackedBar(parts.map((p) => [p[0], p[1], say(p)]), report.wall_ns,
    `${timeWords(report.wall_ns)}: ` + parts.map(say).join(', '));
  bar.classList.add('tall');
  return [bar, legend(parts.map((p) => [p[0], say(p)]))];
}

function latencyChart(object, view, report) {
  const buckets = view.latency[object].buckets;
  if (!buckets.length) return null;
  const figures = report.objects[object].latency_ns;
  const width = 420, height = 130, left = 6, right = 6, bottom = 22, top = 16;
  const low = Math.log2(Math.max(1, buckets[0][0])), high = Math.max(low + 2, Math.log2(buckets[buckets.length - 1][0] + 1) + 0.25);
  const x = (ns) => left + (Math.log2(Math.max(1, ns)) - low) / (high - low) * (width - left - right);
  const most = Math.max(...buckets.map((b) => b[1]));
  const words = `${OBJECTS[object]}: ${manyWords(buckets.reduce((a, b) => a + b[1], 0), 'data call')}, median ${threeTime(figures.p50)}, P95 ${threeTime(figures.p95)}, P99 ${threeTime(figures.p99)}, longest ${threeTime(figures.max)}`;
  const picture = chart(width, height, words);
  for (const [ns, n] of buckets) {
    const from = x(ns), to = Math.max(from + 1.5, x(ns * 2 ** 0.25) - 0.5);
    const h = Math.max(1.5, n / most * (height - bottom - top));
    const bar = svg('rect', {x: from, y: height - bottom - h, width: to - from, height: h, class: 'fill-' + OBJECTS[object]});
    bar.append(svg('title', {}, document.createTextNode(`${manyWords(n, 'call')} from ${threeTime(ns)}`)));
    picture.append(bar);
  }
  let taken = -100;
  for (const [name, ns] of [['P50', figures.p50], ['P95', figures.p95], ['P99', figures.p99]]) {
    const at = Math.min(x(ns), width - 16);
    picture.append(svg('line', {x1: x(ns), x2: x(ns), y1: top - 3, y2: height - bottom, class: 'marker'}));
    if (at - taken < 26) continue;
    picture.append(svg('text', {x: Math.max(at, 14), y: 10, class: 'label middle'}, name));
    taken = at;
  }
  picture.append(svg('line', {x1: 0, x2: width, y1: height - bottom, y2: height - bottom, class: 'axis'}));
  for (let p = 0; p < 12; p++) {
    const ns = 10 ** p, at = x(ns);
    if (at < 12 || at > width - 16) continue;
    picture.append(svg('text', {x: at, y: height - 6, class: 'label middle'}, axisTime(ns)));
    picture.append(svg('line', {x1: at, x2: at, y1: height - bottom, y2: height - bottom + 4, class: 'axis'}));
  }
  return el('figure', {}, el('figcaption', {}, swatch(OBJECTS[object]), ' ' + words), picture);
}

/* Files by power of two: how many calls of which size. */
function sizesTable(report, view) {
  const rows = view.sizes.map((sizes, k) => ({sizes, file: report.files[k]})).filter((r) => r.sizes.length && !isRest(r.file.path));
  if (!rows.length) return null;
  const classes = [...new Set(rows.flatMap((r) => r.sizes.map((s) => s[0])))].sort((a, b) => a - b);
  const columns = [{title: 'file', text: true, wide: true, value: (r) => r.file.path,
    cell: (r) => el('span', {class: 'path', title: nameWords(r.file.path)}, swatch(r.file.object), ' ' + shortWords(pathWords(r.file.path, view.cwd), 40))}];
  const most = Math.max(...rows.flatMap((r) => r.sizes.map((s) => s[1] + s[2])));
  for (const k of classes) {
    const calls = (r) => { const s = r.sizes.find((c) => c[0] === k); return s ? s[1] + s[2] : 0; };
    columns.push({title: powerWords(k), plain: true, note: `calls of ${bytesWords(2 ** k)} to below ${bytesWords(2 ** (k + 1))}`, value: calls,
      cell: (r) => {
        const n = calls(r);
        if (!n) return '';
        const s = r.sizes.find((c) => c[0] === k);
        const heat = 1 + Math.round(4 * Math.log(n) / Math.log(Math.max(most, 2)));
        return el('span', {class: 'heat heat-' + heat, title: `${manyWords(s[1], 'read')}, ${manyWords(s[2], 'write')}`}, countWords(n));
      }});
  }
  return table('Data calls of each file by their bytes: from the size at a column\'s head to below twice that', columns, rows,
    {shown: 10, label: 'Search files: ', search: (r) => r.file.path});
}

function curveChart(report, view) {
  const curve = report.model.curve, width = 640, height = 230, left = 66, bottom = 34, top = 14, right = 16;
  const wall = report.wall_ns, [, twice, fourfold, rest] = view.words.faster.map((f) => f[1]);
  const x = (lambda) => left + (1 - lambda) * (width - left - right);
  const y = (ns) => top + (wall - ns) / (wall || 1) * (height - top - bottom);
  const picture = chart(width, height, `The run takes ${timeWords(wall)}; with I/O twice as fast ${timeWords(twice)}; without any I/O ${timeWords(rest)}`);
  for (const ns of ticks(0, wall, 5)) {
    picture.append(svg('line', {x1: left, x2: width - right, y1: y(ns), y2: y(ns), class: 'grid'}));
    picture.append(svg('text', {x: left - 8, y: y(ns) + 4, class: 'label end'}, axisTime(ns)));
  }
  const faster = view.words.faster.map(([lambda, ns], k) => [lambda, ['as it was', 'twice as fast', 'four times', 'no I/O at all'][k], ns]);
  for (const [lambda, words] of faster) {
    picture.append(svg('line', {x1: x(lambda), x2: x(lambda), y1: height - bottom, y2: height - bottom + 4, class: 'axis'}));
    picture.append(svg('text', {x: x(lambda), y: height - 12, class: 'label ' + (lambda === 1 ? '' : lambda ? 'middle' : 'end')}, words));
  }
  const points = curve.map(([lambda, ns]) => `${x(lambda)},${y(ns)}`);
  picture.append(svg('polygon', {points: `${points.join(' ')} ${x(0)},${height - bottom} ${x(1)},${height - bottom}`, class: 'area'}));
  picture.append(svg('polyline', {points: points.join(' '), class: 'line'}));
  picture.append(svg('line', {x1: left, x2: width - right, y1: height - bottom, y2: height - bottom, class: 'axis'}));
  for (const [lambda, , ns] of faster)
    picture.append(svg('circle', {cx: x(lambda), cy: y(ns), r: 4, class: 'dot'}));
  return el('figure', {}, picture, el('figcaption', {}, `${timeWords(wall)} as it was, ${timeWords(twice)} with I/O twice as fast, ${timeWords(fourfold)} four times, ${timeWords(rest)} without any.`));
}

function stepsChart(report) {
  const starts = report.steps.starts;
  if (!starts || starts.length < 3) return null;
  const ends = [...starts.slice(1), report.phases.find((p) => p.steps).end_ns];
  const lengths = starts.map((s, k) => ends[k] - s);
  const width = 900, height = 120, left = 60, bottom = 20, top = 8, columns = Math.min(lengths.length, 400);
  const most = Math.max(...lengths) || 1;
  const picture = chart(width, height, `Length of ${lengths.length} steps: from ${timeWords(Math.min(...lengths))} to ${timeWords(most)}`);
  for (const ns of ticks(0, most, 3)) {
    const y = height - bottom - ns / most * (height - bottom - top);
    picture.append(svg('line', {x1: left, x2: width, y1: y, y2: y, class: 'grid'}));
    picture.append(svg('text', {x: left - 6, y: y + 4, class: 'label end'}, axisTime(ns)));
  }
  for (let c = 0; c < columns; c++) {
    const from = Math.floor(c * lengths.length / columns), to = Math.floor((c + 1) * lengths.length / columns);
    const longest = Math.max(...lengths.slice(from, to)), h = Math.max(1, longest / most * (height - bottom - top));
    const w = (width - left) / columns;
    const bar = svg('rect', {x: left + c * w, y: height - bottom - h, width: Math.max(0.8, w - 1), height: h, class: 'fill-ink'});
    bar.append(svg('title', {}, document.createTextNode(`step ${from + 1}: ${timeWords(longest)}`)));
    picture.append(bar);
  }
  picture.append(svg('text', {x: left, y: height - 5, class: 'label'}, 'step 1'));
  picture.append(svg('text', {x: width, y: height - 5, class: 'label end'}, `step ${lengths.length}`));
  return el('figure', {}, el('figcaption', {}, 'Length of each step' + (columns < lengths.length ? ', the longest of each few' : '')), picture);
}

function phasesTable(report) {
  const rows = report.phases.map((p) => {
    const sum = (key) => p.objects.reduce((a, o) => a + o[key], 0);
    return {name: p.name, time_ns: p.end_ns - p.start_ns, steps: p.steps, step: p.step_ns, bytes: sum('bytes'), service_ns: sum('service_ns'), exposed_ns: sum('exposed_ns'), hidden_ns: sum('hidden_ns'), objects: p.objects};
  });
  return table('Phases of the run', [
    {title: 'phase', text: true, value: (r) => r.name, cell: (r) => phaseWords(r.name)},
    number('time', 'time_ns', timeWords), number('steps', 'steps', (n) => n || '\u2013'),
    {title: 'median step', value: (r) => r.step && r.step.p50, cell: (r) => r.step ? timeWords(r.step.p50) : '\u2013'},
    {title: 'P95', value: (r) => r.step && r.step.p95, cell: (r) => r.step ? timeWords(r.step.p95) : '\u2013'},
    number('bytes', 'bytes', bytesWords), number('service', 'service_ns', timeWords),
    number('exposed', 'exposed_ns', timeWords), number('hidden', 'hidden_ns', timeWords),
    {title: 'exposed by object', wide: true, value: (r) => r.exposed_ns,
      cell: (r) => stackedBar(r.objects.map((o) => [o.object, o.exposed_ns, `${o.object} ${timeWords(o.exposed_ns)}`]), Math.max(...rows.map((x) => x.exposed_ns)),
        r.objects.filter((o) => o.exposed_ns).map((o) => `${o.object} ${timeWords(o.exposed_ns)}`).join(', ') || 'none')},
  ], rows);
}

function rangesTable(report) {
  return table('What the program says it does', [
    {title: 'range', text: true, wide: true, value: (r) => r.name, cell: (r) => nameWords(r.name)},
    number('times', 'ranges', countWords), number('total', 'total_ns', timeWords),
    {title: 'median', value: (r) => r.range_ns.p50, cell: (r) => timeWords(r.range_ns.p50)},
    {title: 'P95', value: (r) => r.range_ns.p95, cell: (r) => timeWords(r.range_ns.p95)},
    number('calls', 'ops', countWords), number('bytes', 'bytes', bytesWords),
    number('service', 'service_ns', timeWords), number('exposed', 'exposed_ns', timeWords),
  ], report.ranges, {shown: 10, label: 'Search ranges: ', search: (r) => r.name});
}

function cacheTable(report, view) {
  const rows = report.objects.map((o, k) => Object.assign({}, o, view.latency[k])).filter((r) => r.opened_bytes > 0 || r.read_bytes > 0);
  if (!rows.length) return null;
  return el('div', {}, legend([['ink', 'warm: in the page cache'], ['ink', 'cold: not there', true]]), table('What the page cache held of files when they were opened to be read', [
    objectColumn(),
    {title: 'scope', text: true, value: (r) => r.cache_scope, cell: (r) => r.cache_scope},
    {title: 'in the cache', wide: true, value: (r) => r.resident_bytes,
      cell: (r) => r.opened_bytes ? stackedBar([
        ['ink', r.resident_bytes, 'warm ' + bytesWords(r.resident_bytes)],
        ['ink', r.opened_bytes - r.resident_bytes, 'cold ' + bytesWords(r.opened_bytes - r.resident_bytes), true]], r.opened_bytes,
        `${shareWords(r.resident_bytes, r.opened_bytes)} in the cache`) : 'not known'},
    {title: 'warm', value: (r) => r.resident_bytes, cell: (r) => r.opened_bytes ? bytesWords(r.resident_bytes) : '\u2013'},
    {title: 'cold', value: (r) => r.opened_bytes - r.resident_bytes, cell: (r) => r.opened_bytes ? bytesWords(r.opened_bytes - r.resident_bytes) : '\u2013'},
    number('read', 'read_bytes', bytesWords), number('service', 'service_ns', timeWords), number('exposed', 'exposed_ns', timeWords),
  ], rows));
}
