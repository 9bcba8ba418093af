/* Puts a report's page together. */

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
  for (const id of ['verdict', 'busy', 'composition', 'serialization', 'faults']) put(id, view.words[id]);
  document.getElementById('title').append('of ', el('code', {}, name));
  const facts = [['took', timeWords(report.wall_ns)], ['host', nameWords(run.host)],
    ['started', new Date(run.start_realtime_ns / 1e6).toISOString().replace('T', ' ').slice(0, 19) + ' UTC'],
    ['processes', countWords(run.processes)], ['lanes', countWords(run.lanes)], ['events', countWords(run.events)]];
  if (run.dropped_events) facts.push(['not recorded', manyWords(run.dropped_events, 'event')]);
  document.getElementById('facts').append(...facts.filter(([, v]) => v).map(([k, v]) => el('div', {}, el('dt', {}, k), el('dd', {}, v))));
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
  putGpus(report, view);
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
