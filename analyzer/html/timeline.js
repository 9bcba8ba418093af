/* What lies on the run's time: the critical path as a ribbon, lanes and rates below it, all in one
 * window that is zoomed and moved together. */

/* The segments of the path as objects, from the columns they come in. */
function pathSegments(report, view) {
  const p = view.path;
  const segments = p.start_ns.map((start, k) => {
    const end = k + 1 < p.start_ns.length ? p.start_ns[k + 1] : report.wall_ns;
    const kind = p.kinds[Number(p.kind[k])], file = p.file[k] < 0 ? null : report.files[p.file[k]];
    return {index: k, start, end, kind, file, object: OBJECTS[Number(p.object[k])] || 'other', lane: p.lane[k], op: p.ops[p.op[k]] || null, calls: p.calls[k],
      exposed: p.exposed_ns[k], pieces: p.pieces[k], parts: [[kind, end - start]], over: null};
  });
  for (const [k, ...ns] of p.mixed)
    segments[k].parts = ns.map((n, kind) => [p.kinds[kind], n]).filter((part) => part[1]).sort((a, b) => (b[0] === 'io') - (a[0] === 'io'));
  for (const [k, from, op, file, waitOp, waitFile, waited] of p.overs)
    segments[k].over = {from, op: p.ops[op], file: report.files[file], waitOp: p.ops[waitOp], waitFile: report.files[waitFile], waited};
  return segments;
}

function segmentColour(segment, kind) {
  return kind === 'io' ? segment.object : kind;
}

/* The last one that starts at or before a moment. */
function segmentAt(segments, ns) {
  let low = 0, high = segments.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (segments[middle].start <= ns) low = middle;
    else high = middle - 1;
  }
  return segments[low];
}

/* A window on [0, wall] and the canvases that show it. */
class TimeWindow {
  constructor(wall) {
    this.wall = Math.max(wall, 1);
    this.from = 0;
    this.to = this.wall;
    this.tracks = [];
    this.cursor = null;
    this.listeners = [];
    this.pending = false;
  }

  add(height, label, draw, read, name) {
    const canvas = el('canvas', {'aria-hidden': 'true'});
    canvas.style.height = height + 'px';
    const value = el('span', {class: 'value', 'aria-hidden': 'true'});
    const row = el('div', {class: 'track' + (name ? ' ' + name : '')}, el('div', {class: 'track-label'}, label, value), canvas);
    const track = {canvas, draw, read, value, height, pick: (ns) => this.pick && this.pick(ns)};
    this.tracks.push(track);
    this.attach(canvas, track);
    return row;
  }

  show(from, to) {
    const least = Math.min(this.wall, Math.max(1, this.wall / 1e6));
    const span = Math.min(this.wall, Math.max(least, to - from));
    this.from = Math.min(Math.max(0, from), this.wall - span);
    this.to = this.from + span;
    this.redraw();
    for (const f of this.listeners) f();
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    const to = Math.min(this.wall, this.to + by);
    this.show(to - (this.to - this.from), to);
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    const dots = window.devicePixelRatio || 1;
    colours.clear();
    for (const t of this.tracks) {
      const width = t.canvas.clientWidth;
      if (!width) continue;
      t.canvas.width = Math.round(width * dots);
      t.canvas.height = Math.round(t.height * dots);
      const pen = t.canvas.getContext('2d');
      pen.scale(dots, dots);
      const scale = width / (this.to - this.from);
      t.draw(pen, {width, height: t.height, x: (ns) => (ns - this.from) * scale, ns: (x) => this.from + x / scale, from: this.from, to: this.to});
      if (this.cursor === null) continue;
      pen.fillStyle = colour('ink');
      pen.fillRect((this.cursor - this.from) * scale - 0.5, 0, 1, t.height);
    }
    for (const t of this.tracks)
      t.value.textContent = t.read && this.cursor !== null ? t.read(this.cursor) : '';
  }

  at(canvas, clientX) {
    const box = canvas.getBoundingClientRect();
    return this.from + (clientX - box.left) / box.width * (this.to - this.from);
  }

  /* A drag moves, a pinch or the wheel with Ctrl zooms, a tap picks. */
  attach(canvas, track) {
    const fingers = new Map();
    let moved = 0;
    canvas.addEventListener('wheel', (e) => {
      const across = e.shiftKey ? e.deltaY : e.deltaX;
      if (e.ctrlKey || e.metaKey) this.zoom(Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.005), this.at(canvas, e.clientX));
      else if (across) this.pan(across / canvas.clientWidth);
      else return;
      e.preventDefault();
    }, {passive: false});
    canvas.addEventListener('dblclick', (e) => this.zoom(0.25, this.at(canvas, e.clientX)));
    canvas.addEventListener('pointerdown', (e) => {
      fingers.set(e.pointerId, e.clientX);
      moved = 0;
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener('pointermove', (e) => {
      const last = fingers.get(e.pointerId);
      if (last === undefined) {
        this.cursor = this.at(canvas, e.clientX);
        this.redraw();
        return;
      }
      const others = [...fingers].filter(([id]) => id !== e.pointerId);
      fingers.set(e.pointerId, e.clientX);
      moved += Math.abs(e.clientX - last);
      if (others.length) {
        const other = others[0][1], before = Math.abs(last - other), now = Math.abs(e.clientX - other);
        if (before > 8 && now > 8) this.zoom(before / now, this.at(canvas, (e.clientX + other) / 2));
      } else if (moved > 3) {
        this.pan((last - e.clientX) / canvas.clientWidth);
      }
    });
    const up = (e) => {
      if (fingers.delete(e.pointerId) && e.type === 'pointerup' && moved <= 3) track.pick(this.at(canvas, e.clientX));
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => {
      this.cursor = null;
      this.redraw();
    });
  }
}

/* --- what is drawn --- */

function hatched(pen, x, y, w, h) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, h);
  pen.clip();
  pen.strokeStyle = colour('hatch');
  pen.lineWidth = 1;
  pen.beginPath();
  for (let k = Math.floor(x / 6) * 6 - h; k < x + w; k += 6) {
    pen.moveTo(k, y + h);
    pen.lineTo(k + h, y);
  }
  pen.stroke();
  pen.restore();
}

const WAITS = new Set(['sleep', 'wake', 'external', 'unexplained', 'wait']);

function drawRibbon(segments, selected) {
  return (pen, t) => {
    const height = t.height - 6, bins = [];
    const stack = (parts, x, w) => {
      const whole = parts.reduce((a, p) => a + p[1], 0);
      let y = height;
      for (const [name, ns] of parts) {
        const h = whole ? height * ns / whole : 0;
        pen.fillStyle = colour(name);
        pen.fillRect(x, y - h, w, h);
        if (WAITS.has(name) && w > 3) hatched(pen, x, y - h, w, h);
        y -= h;
      }
    };
    let k = segments.length ? segmentAt(segments, t.from).index : 0;
    for (; k < segments.length && segments[k].start < t.to; k++) {
      const s = segments[k], x = Math.max(0, t.x(s.start)), w = Math.min(t.width, t.x(s.end)) - x;
      const parts = s.parts.map(([kind, ns]) => [segmentColour(s, kind), ns]);
      if (w >= 1.5) {
        stack(parts, x, w);
        if (w > 12) {
          pen.fillStyle = colour('page');
          pen.fillRect(x + w - 0.75, 0, 0.75, height);
        }
        continue;
      }
      const bin = bins[Math.floor(x)] || (bins[Math.floor(x)] = new Map());
      for (const [name, ns] of parts) bin.set(name, (bin.get(name) || 0) + ns);
    }
    bins.forEach((bin, x) => stack([...bin].sort((a, b) => OBJECTS.includes(b[0]) - OBJECTS.includes(a[0])), x, 1));
    const s = selected();
    if (!s) return;
    const x = t.x(s.start), w = Math.max(3, t.x(s.end) - x);
    pen.strokeStyle = colour('ink');
    pen.lineWidth = 2;
    pen.strokeRect(x, 1, w, height - 2);
    pen.fillStyle = colour('ink');
    pen.fillRect(x, t.height - 4, w, 4);
  };
}

function drawLane(lane, letters, columns, wall, segments) {
  return (pen, t) => {
    const height = t.height - 4;
    for (let x = 0; x < t.width; x++) {
      const from = Math.max(0, Math.floor(t.ns(x) / wall * columns));
      const to = Math.min(columns, Math.max(from + 1, Math.ceil(t.ns(x + 1) / wall * columns)));
      const states = {}, objects = [0, 0, 0, 0, 0];
      let state = lane.state[from], level = 0;
      for (let c = from; c < to; c++) {
        const n = parseInt(lane.io[c], 36), letter = lane.state[c];
        states[letter] = (states[letter] || 0) + 1;
        if (states[letter] > states[state]) state = letter;
        objects[Number(lane.object[c])] += n;
        level += n;
      }
      if (letters[state] && state !== '.') {
        const top = WAITS.has(letters[state]) ? height * 0.65 : height * 0.25;
        pen.fillStyle = colour('lane-' + letters[state]);
        pen.fillRect(x, top, 1, height - top);
      }
      if (!level) continue;
      const h = Math.max(2, height * level / (to - from) / 35);
      pen.fillStyle = colour(OBJECTS[objects.indexOf(Math.max(...objects))]);
      pen.fillRect(x, height - h, 1, h);
    }
    pen.fillStyle = colour('ink');
    let until = -1;
    let k = segments.length ? segmentAt(segments, t.from).index : 0;
    for (; k < segments.length && segments[k].start < t.to; k++) {
      if (segments[k].lane !== lane.lane) continue;
      const x = Math.max(t.x(segments[k].start), until), end = Math.max(t.x(segments[k].end), x + 0.5);
      pen.fillRect(x, t.height - 3, end - x, 3);
      until = end;
    }
  };
}

function drawAxis(report) {
  return (pen, t) => {
    for (const p of report.phases) {
      if (report.phases.length < 2) break;
      pen.fillStyle = colour(p.name === 'steady' ? 'phase' : 'phase-edge');
      pen.fillRect(t.x(p.start_ns), 0, t.x(p.end_ns) - t.x(p.start_ns), 16);
    }
    pen.font = '11px ' + getComputedStyle(document.body).fontFamily;
    pen.textBaseline = 'top';
    for (const p of report.phases) {
      const from = Math.max(0, t.x(p.start_ns)), room = Math.min(t.width, t.x(p.end_ns)) - from;
      pen.fillStyle = colour('ink');
      if (report.phases.length > 1 && room > pen.measureText(phaseWords(p.name)).width + 8) pen.fillText(phaseWords(p.name), from + 4, 2);
    }
    const starts = report.steps.starts || [], near = starts.filter((s) => s >= t.from && s <= t.to);
    pen.fillStyle = colour('ink-soft');
    if (near.length < t.width / 3)
      for (const s of near) pen.fillRect(t.x(s), 11, 1, 6);
    for (const ns of ticks(t.from, t.to, Math.max(2, t.width / 110))) {
      const x = t.x(ns), words = axisTime(ns), room = pen.measureText(words).width;
      pen.fillRect(x, 17, 1, 5);
      pen.fillText(words, Math.min(Math.max(0, x - room / 2), t.width - room), 24);
    }
  };
}

/* Objects stacked, a value a column. */
function drawRates(series, wall, words) {
  const columns = series[0].length;
  return (pen, t) => {
    const first = Math.max(0, Math.floor(t.from / wall * columns)), last = Math.min(columns - 1, Math.floor(t.to / wall * columns));
    let most = 0;
    for (let c = first; c <= last; c++) most = Math.max(most, series.reduce((a, s) => a + s[c], 0));
    if (most) for (let c = first; c <= last; c++) {
      const x = Math.max(0, t.x(wall * c / columns)), w = t.x(wall * (c + 1) / columns) - x;
      let y = t.height;
      series.forEach((s, o) => {
        const h = s[c] / most * (t.height - 14);
        pen.fillStyle = colour(OBJECTS[o]);
        pen.fillRect(x, y - h, Math.max(0.6, w), h);
        y -= h;
      });
    }
    pen.fillStyle = colour('line');
    pen.fillRect(0, t.height - 1, t.width, 1);
    pen.font = '11px ' + getComputedStyle(document.body).fontFamily;
    pen.textBaseline = 'top';
    pen.fillStyle = colour('ink-soft');
    pen.fillText(words(most), 2, 0);
  };
}

function drawQueue(queue, wall) {
  const columns = queue.mean.length;
  return (pen, t) => {
    const most = Math.max(...queue.max, 1);
    for (let c = 0; c < columns; c++) {
      const x = t.x(wall * c / columns), w = Math.max(0.6, t.x(wall * (c + 1) / columns) - x);
      if (x + w < 0 || x > t.width) continue;
      const top = queue.max[c] / most * (t.height - 14), mean = queue.mean[c] / most * (t.height - 14);
      pen.fillStyle = colour('queue-max');
      pen.fillRect(x, t.height - top, w, top);
      pen.fillStyle = colour('accent');
      pen.fillRect(x, t.height - mean, w, mean);
    }
    pen.fillStyle = colour('line');
    pen.fillRect(0, t.height - 1, t.width, 1);
    pen.font = '11px ' + getComputedStyle(document.body).fontFamily;
    pen.textBaseline = 'top';
    pen.fillStyle = colour('ink-soft');
    pen.fillText('at most ' + countWords(most), 2, 0);
  };
}
