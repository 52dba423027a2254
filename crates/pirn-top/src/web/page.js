'use strict';
// Reads the answers of a runtime (docs/inspect-format.md) and draws them. All text of the program
// goes through `clean` and `textContent`.

const KEPT = 120; // points of the charts
const ROW = 22; // pixels, as in the style
const MOST_OBJECTS = 40;
const token = new URLSearchParams(location.search).get('token') || '';
const by = (id) => document.getElementById(id);
const SVG = by('waits').namespaceURI;

const state = {
  about: {}, paused: false, playing: false, last: null, history: [], rows: [], chosen: null, cycles: [], turn: 0, released: null,
};

// Control characters, and those that are invisible or change the direction of text. `pirn-top`
// has the same set, and escapes in the same way, so both filters match the same text.
const HARMFUL = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const clean = (text) => String(text).replace(HARMFUL, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

function make(name, props = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key === 'class') node.className = value;
    else node[key] = value;
  }
  for (const child of children) {
    node.append(typeof child === 'object' ? child : clean(child));
  }
  return node;
}

function draw(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = clean(text);
  return node;
}

// As `pirn-top` prints them.
function time(nanos) {
  const units = [['d', 86400e9], ['h', 3600e9], ['m', 60e9], ['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
  const [unit, size] = units.find(([, size]) => nanos >= size) || units[6];
  const number = nanos / size;
  return (number < 10 ? Math.floor(number * 10) / 10 : Math.floor(number)) + unit;
}
function bytes(n) {
  const units = ['', 'K', 'M', 'G', 'T'];
  let unit = 0;
  while (n >= 1000 && unit < 4) { n /= 1024; unit += 1; }
  return (unit && n < 10 ? n.toFixed(1) : Math.floor(n)) + units[unit];
}
const count = (n) => Number(n).toLocaleString('en');

async function ask(path, query = {}) {
  const words = new URLSearchParams({ ...query, token });
  const answer = await fetch(`${path}?${words}`);
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return text;
}

function parse(text) {
  const found = { runtime: null, workers: [], tallies: [], scale: [], lines: [], fibers: [], whole: false };
  const cleaned = (_, value) => (typeof value === 'string' ? clean(value) : value);
  let from = 0;
  for (let to = text.indexOf('\n'); to >= 0; from = to + 1, to = text.indexOf('\n', from)) {
    const json = text.slice(from, to);
    // Few lines have a harmful character, escaped or not.
    const line = JSON.parse(json, json.includes('\\') || json.search(HARMFUL) >= 0 ? cleaned : undefined);
    switch (line.kind) {
      case 'runtime': found.runtime = line; break;
      case 'worker': found.workers.push(line); break;
      case 'tally': found.tallies.push(line); break;
      case 'scale': found.scale.push(line); break;
      case 'spawn_line': found.lines.push(line); break;
      case 'fiber': line.number = Number(line.id); found.fibers.push(line); break;
      case 'error': throw new Error(line.message);
      case 'end': found.whole = true; break;
    }
  }
  if (!found.whole) throw new Error('the answer was cut off');
  // Workers answer in any order. Sorted by id, fibers that are equal in the chosen order keep their places.
  found.fibers.sort((a, b) => a.number - b.number);
  return found;
}

// ---- Answers ----

async function refresh(number) {
  const begun = performance.now();
  let held = 0;
  try {
    const answer = parse(await ask('/snapshot', number === undefined ? {} : { n: number }));
    const came = performance.now();
    await state.released;
    held = performance.now() - came;
    if (!answer.runtime) throw new Error('the answer does not name its runtime');
    // The slider has been moved meanwhile.
    if (number !== undefined && number !== Number(by('moment').value)) return 0;
    // The server gives several pages the same answer.
    if (!state.last || answer.runtime.uptime_ns !== state.last.runtime.uptime_ns) take(answer);
    say('');
  } catch (error) {
    say(error.message, true);
  }
  return performance.now() - begun - held;
}

function say(text, bad = false) {
  by('status').textContent = clean(text);
  by('status').className = bad ? 'bad' : '';
}

function take(answer) {
  const before = state.last;
  state.last = answer;
  const seconds = before && (answer.runtime.uptime_ns - before.runtime.uptime_ns) / 1e9;
  const now = answer.runtime, old = before && before.runtime;
  const counter = (runtime, name) => (runtime.counters || {})[name] || 0;
  const rate = (name) => (seconds > 0 ? Math.max(0, counter(now, name) - counter(old, name)) / seconds : null);
  state.history.push({
    dispatched: rate('dispatched'), spawned: rate('spawned'), completed: rate('completed'),
    stalled: seconds > 0 ? Math.max(0, (now.stalled_ns || 0) - (old.stalled_ns || 0)) / 1e6 / seconds : null,
    ready: answer.workers.reduce((sum, worker) => sum + worker.ready, 0),
    fibers: answer.tallies.reduce((sum, tally) => sum + tally.fibers, 0),
    workers: new Map(answer.workers.map((worker) => [worker.worker, look(worker)])),
  });
  if (state.history.length > KEPT) state.history.shift();
  show();
}

const look = (worker) => (!worker.answered && worker.state !== 'gone' ? 'busy' : worker.state);

// ---- Parts ----

function show() {
  const { last } = state;
  if (!last) return;
  const runtime = last.runtime;
  by('runtime').textContent = clean(
    `runtime '${runtime.name}' of process ${runtime.pid}, up ${time(runtime.uptime_ns)}, ${count(runtime.workers)} workers, ` +
    `${count(runtime.pressure)} not started, ${count(runtime.slow_fibers || 0)} slow · ${state.about.source}`);
  showRates();
  showWorkers();
  showGroups();
  showWaits();
  arrange();
}

function showRates() {
  const charts = [
    ['dispatched', 'runs / s'], ['spawned', 'spawned / s'], ['completed', 'completed / s'],
    ['ready', 'ready fibers'], ['fibers', 'started fibers'], ['stalled', 'stalled ms / s'],
  ];
  const parts = charts.map(([name, title]) => {
    const values = state.history.map((point) => point[name]);
    const most = Math.max(1e-9, ...values.filter((value) => value !== null));
    let path = '', pen = 'M';
    values.forEach((value, index) => {
      if (value === null) { pen = 'M'; return; }
      path += `${pen}${KEPT - values.length + index},${(38 - 34 * value / most).toFixed(2)}`;
      pen = 'L';
    });
    const svg = draw('svg', { viewBox: `0 0 ${KEPT - 1} 40`, preserveAspectRatio: 'none' });
    svg.append(draw('path', { d: path }));
    const value = values[values.length - 1];
    const text = value === null ? '-' : count(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
    return make('div', {}, title, ' ', make('b', {}, text), svg);
  });
  const delays = state.last.runtime.stall_delays_ms || [];
  if (delays.length > 0) {
    const words = delays.map(([bound, stalls]) => `${bound === null ? 'longer' : 'up to ' + time(bound * 1e6)}: ${count(stalls)}`);
    parts.push(make('div', { id: 'delays' }, 'Stalls: ' + words.join(', ')));
  }
  const { stack_touched: touched, stack_size: size, stack_size_suggested: suggested } = state.last.runtime;
  if (touched > 0 && size !== undefined) {
    const advice = suggested === undefined ? '' : suggested > size ? `: raise to ${bytes(suggested)}` : `: ${bytes(suggested)} would do`;
    parts.push(make('div', { id: 'stacks' }, `Deepest stack: ${bytes(touched)}/${bytes(size)}${advice}`));
  }
  by('rates').replaceChildren(...parts);
}

function showWorkers() {
  const lanes = state.last.workers.filter((worker) => worker.state !== 'gone' || worker.started > 0).map((worker) => {
    const svg = draw('svg', { viewBox: `0 0 ${KEPT} 1`, preserveAspectRatio: 'none' });
    let from = 0, kind = null;
    const points = state.history.map((point) => point.workers.get(worker.worker) || 'gone');
    const offset = KEPT - points.length;
    for (let at = 0; at <= points.length; at += 1) {
      if (points[at] === kind) continue;
      if (kind !== null) {
        svg.append(draw('rect', { x: offset + from, y: 0, width: at - from, height: 1, style: `fill: var(--${kind})` }));
      }
      [from, kind] = [at, points[at] || null];
    }
    let text = `${look(worker)}${worker.member ? '' : ' (standby)'}: ${count(worker.started)} fibers, ${count(worker.ready)} ready, ${count(worker.fresh)} fresh`;
    if (worker.running) text += `, runs ${worker.running} of ${worker.running_spawned_at}`;
    if (look(worker) === 'busy') text += worker.age_ns ? ` for ${time(worker.age_ns)}, does not answer` : ', does not answer';
    if (worker.left_out) text += `, ${count(worker.left_out)} left out: ${worker.left_out_why}`;
    const line = make('span', { class: look(worker) === 'busy' ? 'bad' : '' }, text);
    return make('div', { class: 'lane' }, make('b', {}, worker.worker), svg, line);
  });
  by('workers').replaceChildren(...lanes);
}

function grouped() {
  const groups = new Map();
  for (const fiber of state.last.fibers) {
    const key = `${fiber.state}|${fiber.reason || ''}|${fiber.spawned_at}`;
    const group = groups.get(key);
    if (group) group.fibers += 1;
    else groups.set(key, { state: fiber.state, reason: fiber.reason || '-', spawned: fiber.spawned_at, fibers: 1 });
  }
  return [...groups.values()].sort((a, b) => b.fibers - a.fibers);
}

function showGroups() {
  const groups = grouped();
  const lines = new Map(state.last.lines.map((line) => [line.spawned_at, line.class]));
  const head = make('tr', {}, make('th', { class: 'number' }, 'Fibers'), make('th', {}, 'State'), make('th', {}, 'Reason'),
    make('th', { class: 'wide' }, 'Class'), make('th', {}, 'Spawned at'));
  const rows = groups.slice(0, 200).map((group) => {
    const row = make('tr', { class: 'link' }, make('td', { class: 'number' }, count(group.fibers)),
      make('td', { class: group.state }, group.state), make('td', {}, group.reason),
      make('td', { class: 'wide' }, lines.get(group.spawned) || '-'), make('td', {}, group.spawned));
    row.onclick = () => {
      const reason = group.reason === '-' ? '' : ` reason:${group.reason}`;
      by('filter').value = `state:${group.state}${reason} ${group.spawned}`;
      arrange();
      by('fibers-part').scrollIntoView({ behavior: 'smooth' });
    };
    return row;
  });
  if (groups.length > 200) rows.push(make('tr', {}, make('td', { colSpan: 5 }, `and ${count(groups.length - 200)} more`)));
  by('groups').replaceChildren(head, ...rows);
}

// ---- The graph of waits ----

// An object is described as `mutex 'till' at 0x7f30: held by 42, 1 wait`, `fiber 42`, or `select of
// 2 cases; OBJECT; OBJECT`. Its name may be any text, so its last address counts.
const identity = (object) => (/^(?:select .*?|.*) at 0x[0-9a-f]+/.exec(object) || [object])[0];
function holder(object) {
  const held = /^(?:mutex|rwlock) /.test(object)
    ? /^ at 0x[0-9a-f]+: (?:held|written) by (\d+)/.exec(object.slice(object.lastIndexOf(' at 0x')))
    : /^fiber (\d+)$/.exec(object);
  return held && held[1];
}

function graph() {
  const objects = new Map(), fibers = new Map();
  for (const fiber of state.last.fibers) {
    fibers.set(fiber.id, fiber);
    if (!fiber.object) continue;
    const key = identity(fiber.object);
    let object = objects.get(key);
    if (!object) objects.set(key, object = { key, text: fiber.object, holder: holder(fiber.object), waiters: [], bad: false });
    object.waiters.push(fiber);
  }
  // Each fiber waits for at most one object, and each object has at most one holder: a walk along
  // them ends, or comes back to where it was.
  const seen = new Map(), cycles = [];
  let walk = 0;
  for (const start of objects.values()) {
    walk += 1;
    const path = [];
    let object = start;
    while (object && !seen.has(object)) {
      seen.set(object, walk);
      path.push(object);
      const next = object.holder && fibers.get(object.holder);
      object = next && next.object && objects.get(identity(next.object));
    }
    if (object && seen.get(object) === walk) {
      const cycle = path.slice(path.indexOf(object));
      cycle.forEach((member) => { member.bad = true; });
      cycles.push(cycle);
    }
  }
  // The parts of an answer are of different moments: a cycle counts when it is there again.
  const names = cycles.map((cycle) => cycle.map((object) => object.key).sort().join());
  cycles.forEach((cycle, index) => { cycle.again = state.cycles.includes(names[index]); });
  state.cycles = names;
  return { objects, fibers, cycles };
}

const title = (fiber, id) => (fiber && fiber.name ? `${id} '${fiber.name}'` : `fiber ${id}`);

function showWaits() {
  const { objects, fibers, cycles } = graph();
  by('cycles').replaceChildren(...cycles.map((cycle) => {
    const steps = cycle.map((object, index) => {
      const from = cycle[(index + cycle.length - 1) % cycle.length].holder;
      const owner = object.key.startsWith('fiber ') ? '' : `, held by ${title(fibers.get(object.holder), object.holder)}`;
      return `${title(fibers.get(from), from)} waits for ${object.key}${owner}`;
    });
    return make('li', {}, 'Cycle: ' + steps.join('; ') + (cycle.again ? '' : ' (in this snapshot only, so far)'));
  }));
  const list = [...objects.values()].sort((a, b) => (b.bad - a.bad) || ((b.holder !== null) - (a.holder !== null)) || (b.waiters.length - a.waiters.length));
  const svg = by('waits');
  const parts = [];
  const columns = { waiters: 0, objects: 340, holders: 820 };
  const boxes = { waiters: 300, objects: 440, holders: 240 };
  const cut = (text, width) => (text.length > width ? text.slice(0, width - 1) + '…' : text);
  let y = 6;
  const box = (column, text, bad, id, short = text) => {
    const group = draw('g', {});
    group.append(draw('rect', { class: 'box' + (bad ? ' bad' : ''), x: columns[column] + 2, y, width: boxes[column], height: 22, rx: 4 }));
    group.append(draw('text', { x: columns[column] + 9, y: y + 15 }, cut(clean(short), Math.floor((boxes[column] - 12) / 6.8))));
    group.append(draw('title', {}, text)); // shown where the pointer is
    if (id) { group.style.cursor = 'pointer'; group.onclick = () => choose(id); }
    parts.push(group);
  };
  const edge = (from, to, top, bottom, bad) => {
    const [x1, x2] = [columns[from] + boxes[from] + 2, columns[to] + 2];
    const [y1, y2] = [top + 11, bottom + 11];
    parts.unshift(draw('path', { class: 'edge' + (bad ? ' bad' : ''), d: `M${x1},${y1}C${x1 + 24},${y1} ${x2 - 24},${y2} ${x2},${y2}` }));
  };
  for (const object of list.slice(0, MOST_OBJECTS)) {
    const top = y;
    const groups = new Map();
    for (const fiber of object.waiters) {
      const group = groups.get(fiber.spawned_at);
      if (group) group.push(fiber);
      else groups.set(fiber.spawned_at, [fiber]);
    }
    box('objects', object.text, object.bad);
    edge('waiters', 'objects', top, top, object.bad);
    if (object.holder) {
      box('holders', 'held by ' + title(fibers.get(object.holder), object.holder), object.bad, object.holder);
      edge('objects', 'holders', top, top, object.bad);
    }
    const shown = [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, 3);
    shown.forEach(([line, waiting], index) => {
      const one = waiting.length === 1;
      const text = one ? title(waiting[0], waiting[0].id) : `${count(waiting.length)} of ${line}`;
      const short = one || text.length <= 42 ? text : `${count(waiting.length)} of …${line.slice(text.length - 41)}`;
      box('waiters', text, object.bad && one, one && waiting[0].id, short);
      if (index > 0) edge('waiters', 'objects', y, top, false);
      y += 26;
    });
    if (groups.size > 3) {
      box('waiters', `and ${count(groups.size - 3)} other lines`, false);
      y += 26;
    }
    y += 4;
  }
  if (list.length > MOST_OBJECTS) {
    parts.push(draw('text', { x: 9, y: y + 14 }, `and ${count(list.length - MOST_OBJECTS)} more objects`));
    y += 20;
  }
  if (list.length === 0) parts.push(draw('text', { x: 9, y: 16 }, 'No fiber waits for an object.'));
  svg.setAttribute('width', 1070);
  svg.setAttribute('height', Math.max(y, 24));
  svg.replaceChildren(...parts);
}

// ---- The table of fibers ----

const STATES = ['running', 'ready', 'parked'];
const COLUMNS = [
  ['id', 'Fiber', true, (fiber) => fiber.id, (fiber) => fiber.number],
  ['name', 'Name', true, (fiber) => fiber.name || ''],
  ['state', 'State', true, (fiber) => fiber.state, (fiber) => STATES.indexOf(fiber.state)],
  ['reason', 'Reason', true, (fiber) => fiber.reason || ''],
  ['age', 'Age', true, (fiber) => (fiber.state === 'parked' ? time(fiber.waited_ns) : ''), (fiber) => (fiber.state === 'parked' ? fiber.waited_ns : -1)],
  ['worker', 'W', false, (fiber) => String(fiber.worker), (fiber) => fiber.worker],
  ['stack', 'Stack', false, (fiber) => (fiber.stack_used === undefined || fiber.stack_size === undefined ? '' : `${bytes(fiber.stack_used)}/${bytes(fiber.stack_size)}`), (fiber) => fiber.stack_used || 0],
  ['object', 'Waits for', false, (fiber) => fiber.object || ''],
  ['waits', 'Waits at', false, (fiber) => fiber.waits_at || ''],
  ['spawned', 'Spawned at', false, (fiber) => fiber.spawned_at],
];
// Their ends, file and line, are what is seen if there is no room for all.
const PLACES = ['waits', 'spawned'];
const SHORT = ['name', 'state', 'reason', 'age', 'object'];

function admits(words, fiber) {
  return words.every((word) => {
    const [key, value] = word.split(/:(.*)/s);
    switch (value === undefined ? '' : key) {
      case 'state': return fiber.state === value;
      case 'reason': return (fiber.reason || '').toLowerCase() === value;
      case 'worker': return String(fiber.worker) === value;
      case 'id': return fiber.id === value;
      case 'name': return (fiber.name || '').toLowerCase().includes(value);
      default: return [fiber.id, fiber.name, fiber.state, fiber.reason, fiber.object, fiber.waits_at, fiber.spawned_at]
        .some((text) => text && text.toLowerCase().includes(word));
    }
  });
}

function arrange() {
  if (!state.last) return;
  const words = by('filter').value.toLowerCase().split(/\s+/).filter((word) => word);
  const rows = words.length ? state.last.fibers.filter((fiber) => admits(words, fiber)) : state.last.fibers.slice();
  const [name, , , text, number] = COLUMNS.find(([name]) => name === by('order').value);
  const sign = (name === 'age' || name === 'stack' ? -1 : 1) * (by('reverse').checked ? -1 : 1);
  const keys = new Map(rows.map((fiber) => [fiber, number ? number(fiber) : text(fiber)]));
  rows.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    return sign * (x < y ? -1 : x > y ? 1 : 0);
  });
  state.rows = rows;
  const started = state.last.tallies.reduce((sum, tally) => sum + tally.fibers, 0);
  by('shown').textContent = `${count(rows.length)} of ${count(started)}`;
  by('space').style.height = `${rows.length * ROW}px`;
  scroll();
}

// Only the rows that are visible exist in the page.
function scroll() {
  const list = by('list');
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const rows = state.rows.slice(first, first + Math.ceil(list.clientHeight / ROW) + 10);
  by('space').replaceChildren(...rows.map((fiber, index) => {
    const cells = COLUMNS.map(([name, , , text]) => {
      const place = PLACES.includes(name);
      const kind = [SHORT.includes(name) ? '' : 'wide', name === 'state' ? fiber.state : '', place ? 'place' : ''];
      const words = text(fiber);
      return make('span', { class: kind.join(' ').trim(), title: clean(words) }, place ? make('bdi', {}, words) : words);
    });
    const row = make('div', { class: 'row link' + (fiber.id === state.chosen ? ' chosen' : '') }, ...cells);
    row.style.top = `${(first + index) * ROW}px`;
    row.onclick = () => choose(fiber.id);
    return row;
  }));
}

// ---- One fiber ----

async function choose(id) {
  state.chosen = id;
  scroll();
  let fiber = state.last?.fibers.find((fiber) => fiber.id === id);
  let said = '';
  if (!state.about.recorded_ms) {
    try {
      fiber = parse(await ask('/fiber', { id })).fibers[0] || fiber;
    } catch (error) {
      said = error.message;
    }
  } else {
    said = 'a recording has no frames';
  }
  if (state.chosen !== id) return;
  by('detail-title').textContent = clean(title(fiber, id));
  const facts = fiber ? COLUMNS.slice(2).map(([, head, , text]) => [head, text(fiber)]).filter(([, text]) => text) : [];
  if (fiber && fiber.stack_touched !== undefined) facts.push(['Stack touched', bytes(fiber.stack_touched)]);
  by('facts').replaceChildren(...facts.flatMap(([head, text]) => [make('dt', {}, head), make('dd', {}, text)]));
  const frames = (fiber && fiber.frames) || [];
  by('frames').replaceChildren(...(frames.length ? frames : [said || 'none']).map((frame) => make('li', {}, frame)));
  by('detail').hidden = false;
}

// ---- Start ----

async function follow() {
  for (;;) {
    const took = state.paused ? 0 : await refresh();
    // Waits three times as long as the request took: requests take at most a quarter of the time.
    await new Promise((ready) => setTimeout(ready, Math.max(state.about.interval_ms, 3 * took)));
  }
}

async function move(number) {
  const slider = by('moment');
  slider.value = number;
  const at = state.about.recorded_ms[number];
  by('when').textContent = `${number + 1} of ${state.about.recorded_ms.length}, ${new Date(at).toISOString()}`;
  await refresh(number);
}

async function play() {
  const times = state.about.recorded_ms;
  const turn = state.turn;
  for (;;) {
    const next = Number(by('moment').value) + 1;
    if (next >= times.length) break;
    await new Promise((ready) => setTimeout(ready, Math.min(2000, Math.max(50, times[next] - times[next - 1]))));
    if (turn !== state.turn) return;
    await move(next);
    if (turn !== state.turn) return;
  }
  stop();
}

function stop() {
  state.turn += 1; // ends a loop of `play`
  state.playing = false;
  by('play').textContent = 'Play';
}

async function start() {
  by('head').append(...COLUMNS.map(([name, head]) => make('span', { class: SHORT.includes(name) ? '' : 'wide' }, head)));
  by('order').append(...COLUMNS.map(([name, head]) => make('option', { value: name }, head)));
  by('order').value = 'age';
  for (const [id, event] of [['filter', 'input'], ['order', 'change'], ['reverse', 'change']]) by(id).addEventListener(event, arrange);
  by('list').addEventListener('scroll', scroll);
  addEventListener('resize', scroll);
  // A click needs the pressed element on release, so no update replaces it in between.
  let release = () => {};
  addEventListener('pointerdown', (event) => {
    release();
    if (event.target.closest('.link, #waits')) state.released = new Promise((ready) => { release = ready; });
  });
  for (const end of ['pointerup', 'pointercancel', 'contextmenu']) {
    addEventListener(end, () => setTimeout(release)); // after the click
  }
  by('close').onclick = () => { state.chosen = null; by('detail').hidden = true; scroll(); };
  by('pause').onclick = () => {
    state.paused = !state.paused;
    by('pause').textContent = state.paused ? 'Resume' : 'Pause';
  };
  try {
    state.about = JSON.parse(await ask('/about'));
  } catch (error) {
    say(error.message, true);
    return;
  }
  if (!state.about.recorded_ms) return follow();
  by('pause').hidden = true;
  by('replay').hidden = false;
  by('moment').max = state.about.recorded_ms.length - 1;
  by('moment').oninput = () => {
    stop();
    state.history = [];
    state.last = null;
    move(Number(by('moment').value));
  };
  by('play').onclick = () => {
    if (state.playing) { stop(); return; }
    if (Number(by('moment').value) + 1 >= state.about.recorded_ms.length) by('moment').value = 0;
    state.playing = true;
    by('play').textContent = 'Pause';
    play();
  };
  await move(0);
}
start();
