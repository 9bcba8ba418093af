/* Elements, colours and what charts share. Text reaches the page as text nodes alone. */

const OBJECTS = ['input', 'artifact', 'state', 'output', 'other'];
const KIND_WORDS = {
  compute: 'computing', io: 'I/O', gpu: 'GPU work', sleep: 'sleep', wake: 'waking up',
  external: 'waiting for others', unexplained: 'unexplained waiting',
};

function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const key in attributes || {}) {
    if (key.startsWith('on')) e.addEventListener(key.slice(2), attributes[key]);
    else if (attributes[key] !== null && attributes[key] !== false) e.setAttribute(key, attributes[key]);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

function svg(name, attributes, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes || {}) e.setAttribute(key, attributes[key]);
  e.append(...children);
  return e;
}

/* A chart of fixed inner size that scales with the page; its title is what a screen reader says. */
function chart(width, height, title) {
  return svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title, class: 'chart'});
}

/* The styles' own value, for canvases; asked for once in each painting. */
const colours = new Map();
function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  return colours.get(name);
}

function swatch(name, hatched) {
  return el('span', {class: 'swatch fill-' + name + (hatched ? ' hatched' : ''), 'aria-hidden': 'true'});
}

function legend(entries) {
  return el('ul', {class: 'legend'}, ...entries.map(([name, words, hatched]) =>
    el('li', {}, swatch(name, hatched), ' ' + words)));
}

/* Round steps for an axis, so that there are about `most` of them. */
function ticks(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => span / s <= most) || 10 * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

/* A row of bars that share a whole: [name of a colour, value, words, hatched]. */
function stackedBar(parts, whole, title) {
  const bar = el('div', {class: 'bar', role: 'img', 'aria-label': title});
  for (const [name, value, words, hatched] of parts) {
    if (!(value > 0) || !(whole > 0)) continue;
    const part = el('span', {class: 'part fill-' + name + (hatched ? ' hatched' : ''), title: words});
    part.style.width = (100 * value / whole) + '%';
    bar.append(part);
  }
  return bar;
}

/* Names stand between ` in sentences, as in a terminal. */
function namesMarked(sentence) {
  const parts = nameWords(sentence).split('`');
  return parts.length % 2 ? parts.map((part, k) => k % 2 ? el('code', {}, part) : part) : [parts.join('`')];
}

function list(sentences) {
  return el('ul', {class: 'points'}, ...sentences.map((s) => el('li', {}, ...namesMarked(s))));
}

function fill(id, ...children) {
  document.querySelector('#' + id + ' .body').append(...children.filter(Boolean));
}

function drop(id) {
  document.getElementById(id).remove();
}
