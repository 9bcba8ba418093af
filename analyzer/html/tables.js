/* Tables that can be sorted by a click on a column, searched, and shown a part at a time. */

/* columns: {title, value(row) to sort by, cell(row) what is shown, text: true for words, wide, plain: not
 * sorted by, note} */
function table(caption, columns, rows, options) {
  const o = Object.assign({shown: 20, search: null, sorted: -1}, options);
  const state = {by: o.sorted, down: true, words: '', shown: o.shown};
  const body = el('tbody', {});
  const count = el('p', {class: 'count', role: 'status'});
  const more = el('button', {type: 'button', class: 'more', onclick: () => {
    state.shown = state.shown === Infinity ? o.shown : Infinity;
    update();
  }});
  const heads = columns.map((c, k) => {
    const sort = el('button', {type: 'button', onclick: () => {
      state.down = state.by === k ? !state.down : !c.text;
      state.by = k;
      update();
    }}, c.title);
    return el('th', {scope: 'col', class: c.text || c.wide ? '' : 'number', title: c.note || null}, rows.length > 1 && !c.plain ? sort : c.title);
  });

  function compare(a, b) {
    const x = columns[state.by].value(a), y = columns[state.by].value(b);
    const order = typeof x === 'string' ? x.localeCompare(y) : (x ?? -1) - (y ?? -1);
    return state.down ? -order : order;
  }

  function update() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    let found = rows.filter((r) => !words.length || words.every((w) => o.search(r).toLowerCase().includes(w)));
    if (state.by >= 0) found = found.slice().sort(compare);
    body.replaceChildren(...found.slice(0, state.shown).map((row) => el('tr', {}, ...columns.map((c, k) => {
      const cell = el(k ? 'td' : 'th', k ? {} : {scope: 'row'}, c.cell(row));
      cell.className = c.wide ? 'wide' : c.text ? '' : 'number';
      return cell;
    }))));
    heads.forEach((h, k) => h.setAttribute('aria-sort', k !== state.by ? 'none' : state.down ? 'descending' : 'ascending'));
    const left = found.length - Math.min(found.length, state.shown);
    more.textContent = left ? `Show all ${found.length}` : 'Show fewer';
    more.hidden = found.length <= o.shown;
    count.textContent = words.length ? `${found.length} of ${rows.length} found` : '';
  }

  const parts = [];
  if (o.search && rows.length > 5)
    parts.push(el('p', {class: 'search'}, el('label', {}, o.label || 'Search ', el('input', {
      type: 'search', autocomplete: 'off', spellcheck: 'false', oninput: (e) => {
        state.words = e.target.value;
        update();
      }}))), count);
  parts.push(el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
    el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, ...heads)), body,
      o.foot ? el('tfoot', {}, o.foot) : null)), more);
  update();
  return el('div', {class: 'table'}, ...parts);
}

function number(title, key, words, note) {
  return {title, note, value: (r) => r[key], cell: (r) => r[key] === null ? '\u2013' : words(r[key])};
}

function objectColumn() {
  return {title: 'object', text: true, value: (r) => r.object,
    cell: (r) => el('span', {class: 'object'}, swatch(r.object), ' ' + r.object)};
}

function filePath(path, cwd, most) {
  return el('span', {class: isRest(path) ? null : 'path', title: nameWords(path)}, shortWords(fileWords(path, cwd), most));
}

function fileColumn(view, most) {
  return {title: 'file', text: true, wide: true, value: (f) => f.path, cell: (f) => filePath(f.path, view.cwd, most)};
}

function cacheColumn() {
  return {title: 'cache', text: true, note: 'what the page cache held when files were opened to be read',
    value: (r) => r.cache_scope, cell: (r) => r.cache_scope === 'unknown' ? '\u2013' : r.cache_scope};
}

/* Exposed and hidden as one bar, of the greatest service in the table. */
function barColumn(most) {
  return {title: 'exposed and hidden', wide: true, value: (r) => r.exposed_ns,
    cell: (r) => stackedBar([
      [r.object || 'total', r.exposed_ns, 'exposed ' + timeWords(r.exposed_ns), false],
      [r.object || 'total', r.hidden_ns, 'hidden ' + timeWords(r.hidden_ns), true],
    ], most, `exposed ${timeWords(r.exposed_ns)}, hidden ${timeWords(r.hidden_ns)}`)};
}

function ledgerTable(report) {
  const rows = report.objects.concat([Object.assign({object: null, cache_scope: ''}, report.total)]);
  for (const r of rows) r.calls = r.data_ops + r.metadata_ops + r.sync_ops;
  const most = Math.max(...report.objects.map((o) => o.service_ns));
  const first = {title: 'object', text: true, value: (r) => r.object || '',
    cell: (r) => r.object ? objectColumn().cell(r) : el('strong', {}, 'total')};
  const bar = barColumn(most);
  const cell = bar.cell;
  bar.cell = (r) => r.object ? cell(r) : '';
  return el('div', {}, legend([['ink', 'exposed: makes the run longer'], ['ink', 'hidden: other work went on', true]]),
    table('I/O by object', [
      first, bar,
      number('exposed', 'exposed_ns', timeWords, 'the part of service that makes the run longer'),
      number('hidden', 'hidden_ns', timeWords, 'service less exposed'),
      number('service', 'service_ns', timeWords, 'how long calls took'),
      number('recoverable', 'recoverable_ns', timeWords, 'how much shorter the run would be without this object\'s I/O; does not add up'),
      number('bytes', 'bytes', bytesWords),
      number('calls', 'calls', countWords),
      {title: 'GB/s', value: (r) => r.service_ns ? r.bytes / r.service_ns : null,
        cell: (r) => rateWords(r.service_ns ? r.bytes / r.service_ns : null)},
      cacheColumn(),
    ], rows));
}

function filesTable(report, view) {
  const most = Math.max(...report.files.map((f) => f.service_ns));
  for (const f of report.files) f.calls = f.data_ops + f.metadata_ops + f.sync_ops;
  return table('Files, those with most exposed time first', [
    {title: 'file', text: true, wide: true, value: (f) => f.path,
      cell: (f) => el('span', {}, filePath(f.path, view.cwd, 56),
        f.why ? el('span', {class: 'why'}, nameWords(f.why)) : '')},
    objectColumn(), barColumn(most),
    number('exposed', 'exposed_ns', timeWords), number('hidden', 'hidden_ns', timeWords),
    number('recoverable', 'recoverable_ns', timeWords, 'computed for the most exposed files'),
    number('bytes', 'bytes', bytesWords), number('calls', 'calls', countWords),
    {title: 'P95', value: (f) => f.latency_ns && f.latency_ns.p95,
      cell: (f) => f.latency_ns ? threeTime(f.latency_ns.p95) : '\u2013'},
    cacheColumn(),
  ], report.files, {shown: 15, label: 'Search files: ', search: (f) => `${f.path} ${f.object} ${f.why}`});
}

function sitesTable(report) {
  return table('Call sites, those with most exposed time first', [
    {title: 'where', text: true, wide: true, value: (s) => s.frames[0] || '',
      cell: (s) => el('details', {}, el('summary', {}, el('code', {}, s.frames.slice(0, 3).map((f) => shortWords(nameWords(f), 48)).join(' \u2190 ') || '?')),
        el('ol', {class: 'frames'}, ...s.frames.map((f) => el('li', {}, el('code', {}, nameWords(f))))))},
    number('exposed', 'exposed_ns', timeWords), number('service', 'service_ns', timeWords),
    number('calls', 'calls', countWords), number('bytes', 'bytes', bytesWords),
  ], report.sites, {label: 'Search call sites: ', search: (s) => s.frames.join(' ')});
}

function waitsTable(report, view) {
  return table('Time the run waited for other lanes', [
    {title: 'who waited', text: true, value: (w) => w.waiter, cell: (w) => nameWords(w.waiter)},
    {title: 'for whom', text: true, value: (w) => w.waited_for, cell: (w) => nameWords(w.waited_for)},
    {title: 'who was', text: true, value: (w) => w.doing, cell: (w) => w.doing},
    {title: 'what', text: true, wide: true, value: (w) => w.path,
      cell: (w) => filePath(w.path, view.cwd, 64)},
    objectColumn(), number('waited', 'waited_ns', timeWords),
  ], report.waits, {shown: 10, label: 'Search waits: ', search: (w) => `${w.waiter} ${w.waited_for} ${w.path}`});
}
