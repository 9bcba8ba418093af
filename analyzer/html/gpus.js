/* What is said of GPUs beside the files: what they did, what was copied, when artifacts were there. */

const RULE_WORDS = {
  file: 'the file whose bytes they are', user: 'a rule of yours', before_steps: 'before the first step',
  in_steps: 'in the steps', from_gpu: 'from a GPU', state: 'none: they stay on GPUs, or neither end is known',
};

function ioIdle(device) {
  return OBJECTS.reduce((a, o) => a + device.idle_of_ns[o], 0);
}

/* Busy, idle because of I/O by object, idle otherwise. */
function deviceParts(device) {
  return [['gpu', device.busy_ns, 'busy'], ...OBJECTS.map((o) => [o, device.idle_of_ns[o], `idle because of ${o}`]),
    ['sleep', device.idle_ns - ioIdle(device), 'idle otherwise']].filter((p) => p[1] > 0);
}

function devicesTable(gpu) {
  const rows = gpu.devices.filter((d) => d.busy_ns !== null);
  if (!rows.length) return null;
  const most = Math.max(...rows.map((d) => d.busy_ns + d.idle_ns)), kinds = new Map();
  for (const d of rows) for (const [name, , words] of deviceParts(d)) kinds.set(name, words);
  const say = (d) => deviceParts(d).map(([, ns, words]) => `${words} ${timeWords(ns)}`).join(', ');
  return el('div', {}, legend([...kinds]), table('What each GPU did until its last operation', [
    {title: 'GPU', text: true, value: (d) => d.device, cell: (d) => 'gpu' + d.device},
    {title: 'busy and idle', wide: true, value: (d) => d.busy_ns,
      cell: (d) => stackedBar(deviceParts(d).map(([name, ns, words]) => [name, ns, `${words} ${timeWords(ns)}`]), most, say(d))},
    number('busy', 'busy_ns', timeWords, 'something ran in one of its streams'), number('idle', 'idle_ns', timeWords, 'nothing ran'),
    {title: 'because of I/O', value: ioIdle, cell: (d) => timeWords(ioIdle(d))},
  ], rows));
}

function copiesTable(gpu) {
  if (!gpu.copies.length) return null;
  return table('Copies, and what decided of what object they are', [
    {title: 'direction', text: true, value: (c) => c.direction, cell: (c) => c.direction}, objectColumn(),
    {title: 'decided by', text: true, wide: true, value: (c) => c.decided_by, cell: (c) => RULE_WORDS[c.decided_by]},
    {title: 'host memory', text: true, value: (c) => c.memory || '', cell: (c) => c.memory || '\u2013'},
    number('copies', 'copies', countWords), number('bytes', 'bytes', bytesWords), number('service', 'service_ns', timeWords),
    {title: 'GB/s', value: (c) => c.service_ns ? c.bytes / c.service_ns : null, cell: (c) => rateWords(c.service_ns ? c.bytes / c.service_ns : null)},
  ], gpu.copies);
}

const READY_PARTS = [['storage', 'artifact', 'read from storage'], ['decode', 'compute', 'decoded'], ['placement', 'gpu', 'copied to a GPU']];

function readyAfter(file) {
  return READY_PARTS.reduce((a, [part]) => a + file.ready_ns[part], 0);
}

function placed(report) {
  return report.files.filter((f) => f.ready_ns && f.ready_ns.placement > 0);
}

function readyTable(report, view) {
  const rows = placed(report);
  if (!rows.length) return null;
  const most = Math.max(...rows.map(readyAfter));
  const say = (f) => READY_PARTS.map(([part, , words]) => `${words} ${timeWords(f.ready_ns[part])}`).join(', ');
  return el('div', {}, legend(READY_PARTS.map(([, name, words]) => [name, words])), table('When artifacts were on the GPU, from their first open', [
    fileColumn(view, 48),
    {title: 'until ready', wide: true, value: readyAfter,
      cell: (f) => stackedBar(READY_PARTS.map(([part, name, words]) => [name, f.ready_ns[part], `${words} ${timeWords(f.ready_ns[part])}`]), most, say(f))},
    {title: 'ready after', value: readyAfter, cell: (f) => timeWords(readyAfter(f))},
    ...READY_PARTS.map(([part]) => ({title: part, value: (f) => f.ready_ns[part], cell: (f) => timeWords(f.ready_ns[part])})),
  ], rows, {shown: 10, label: 'Search artifacts: ', search: (f) => f.path}));
}

function ranksTable(gpu) {
  if (!gpu.ranks.length) return null;
  const unknown = (r, words) => r.matched ? words : '\u2013';
  return table('Collectives', [
    {title: 'GPU', text: true, value: (r) => r.device, cell: (r) => 'gpu' + r.device}, number('process', 'pid', String), number('rank', 'rank', String),
    number('collectives', 'collectives', countWords), number('matched', 'matched', countWords, 'those whose counterparts are in this trace'),
    {title: 'waited for others', value: (r) => r.matched ? r.waited_ns : null, cell: (r) => unknown(r, timeWords(r.waited_ns))},
    number('moved bytes', 'transfer_ns', timeWords, 'waiting for ranks that are not in this trace included'),
  ], gpu.ranks, {shown: 16});
}

function putGpus(report, view) {
  if (!report.gpu) return drop('gpus');
  fill('gpus', list(view.words.gpus), devicesTable(report.gpu), readyTable(report, view), copiesTable(report.gpu), ranksTable(report.gpu));
}

/* The same figures of two runs; a side without a GPU, or without its kernels, has none. */
function bothGpus(reports) {
  const rows = new Map();
  const put = (side, name, key, value, words) => {
    const id = name + '\0' + key;
    if (!rows.has(id)) rows.set(id, {name, key, words, sides: [null, null]});
    rows.get(id).sides[side] += value;
  };
  reports.forEach((report, side) => {
    for (const d of report.gpu ? report.gpu.devices : []) {
      if (d.busy_ns === null) continue;
      put(side, 'gpu' + d.device, 'busy', d.busy_ns, timeWords);
      put(side, 'gpu' + d.device, 'idle', d.idle_ns, timeWords);
      put(side, 'gpu' + d.device, 'idle because of I/O', ioIdle(d), timeWords);
    }
    for (const f of placed(report)) put(side, f.path, 'ready after', readyAfter(f), timeWords);
    for (const c of report.gpu ? report.gpu.copies : []) {
      const name = c.direction + (c.memory ? ', ' + c.memory : '');
      put(side, name, 'copies', c.copies, countWords);
      put(side, name, 'bytes copied', c.bytes, bytesWords);
      put(side, name, 'time in copies', c.service_ns, timeWords);
    }
    for (const r of report.gpu ? report.gpu.ranks : [])
      if (r.matched) put(side, `gpu${r.device} of ${r.rank === null ? 'process ' + r.pid : 'rank ' + r.rank}`, 'waited for other ranks', r.waited_ns, timeWords);
  });
  if (!rows.size) return null;
  const value = (r, k) => r.sides[k] === null ? '\u2013' : r.words(r.sides[k]);
  const by = (r) => r.sides.includes(null) ? null : r.sides[1] - r.sides[0];
  const changed = (r) => by(r) === null ? '\u2013' : !by(r) ? '0' : (by(r) > 0 ? '+' : '\u2212') + r.words(Math.abs(by(r)));
  return table('What GPUs did, and what was copied', [
    {title: 'of', text: true, wide: true, value: (r) => r.name, cell: (r) => el('span', {title: nameWords(r.name)}, shortWords(nameWords(r.name), 48))},
    {title: 'figure', text: true, value: (r) => r.key, cell: (r) => r.key},
    ...SIDES.map((side, k) => ({title: side, value: (r) => r.sides[k], cell: (r) => value(r, k)})),
    {title: 'change', value: by, cell: changed},
  ], [...rows.values()], {shown: 20, label: 'Search figures of GPUs: ', search: (r) => `${r.name} ${r.key}`});
}
