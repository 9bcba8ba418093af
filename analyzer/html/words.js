'use strict';
/* Figures and names as people read them: the same words as in the text report. */

function three(value, unit) {
  const decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return value.toFixed(decimals) + '\u00a0' + unit;
}

function timeWords(ns) {
  if (!ns) return '0';
  if (ns < 0) return '\u2212' + timeWords(-ns);
  if (ns < 10000) return '<0.01\u00a0ms';
  return ns < 999500000 ? three(ns / 1e6, 'ms') : three(ns / 1e9, 's');
}

/* On an axis also what is shorter. */
function axisTime(ns) {
  if (!ns) return '0';
  const [by, unit] = ns < 1e3 ? [1, 'ns'] : ns < 1e6 ? [1e3, '\u00b5s'] : ns < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  return String(Number((ns / by).toPrecision(5))) + '\u00a0' + unit;
}

/* Of one call. */
function threeTime(ns) {
  return axisTime(Number(ns.toPrecision(3)));
}

/* 2 to the k, as sizes of calls are meant. */
function powerWords(k) {
  return 2 ** (k % 10) + ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][Math.floor(k / 10)];
}

function scaledWords(n, units) {
  if (n < 1000) return String(Math.round(n)) + (units[0] && '\u00a0' + units[0]);
  let unit = 0;
  while (n >= 999.5 && unit < 6) {
    n /= 1000;
    unit++;
  }
  return three(n, units[unit]);
}

function bytesWords(n) {
  return scaledWords(n, ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB']);
}

function countWords(n) {
  return n >= 100000 ? scaledWords(n, ['', 'k', 'M', 'G', 'T', 'P', 'E']) : String(n);
}

function manyWords(n, noun) {
  return countWords(n) + '\u00a0' + noun + (n === 1 ? '' : noun.endsWith('s') ? 'es' : 's');
}

function shareWords(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;
  if (percent > 0 && percent < 0.1) return '<0.1\u00a0%';
  return percent.toFixed(percent > 0 && percent < 9.95 ? 1 : 0) + '\u00a0%';
}

function rateWords(gbps) {
  if (gbps === null || gbps === undefined || !gbps) return '\u2013';
  return gbps < 0.001 ? '<0.001' : gbps.toFixed(gbps < 1 ? 3 : gbps < 100 ? 2 : 0);
}

/* A name from a trace: what is no text, or turns or hides text, is shown as \xNN or \u{N}. */
function nameWords(name) {
  return Array.from(name, (c) => {
    const code = c.codePointAt(0);
    if (code >= 0xdc80 && code <= 0xdcff) return '\\x' + (code & 0xff).toString(16);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return '\\x' + code.toString(16).padStart(2, '0');
    if ((code >= 0xd800 && code <= 0xdfff) || /[\p{Cf}\p{Zl}\p{Zp}]/u.test(c)) return '\\u{' + code.toString(16) + '}';
    return c;
  }).join('');
}

/* Below the folder the run started in, the path from there. */
function pathWords(path, cwd) {
  const here = cwd.length > 1 && path.startsWith(cwd + '/') && path.length > cwd.length + 1;
  return nameWords(here ? path.slice(cwd.length + 1) : path);
}

/* A row of the report's files; those beyond its number are one row an object. */
function fileWords(path, cwd) {
  const rest = isRest(path);
  return rest ? manyWords(rest, 'more file') : pathWords(path, cwd);
}

function isRest(path) {
  const more = /^\((\d+) more\)$/.exec(path);
  return more ? Number(more[1]) : 0;
}

/* The end of a path tells most: the middle gives way. */
function shortWords(text, most) {
  if (text.length <= most) return text;
  const head = Math.floor((most - 1) / 3);
  return text.slice(0, head) + '\u2026' + text.slice(text.length - (most - 1 - head));
}

function phaseWords(name) {
  return name.replace(/_/g, ' ');
}
