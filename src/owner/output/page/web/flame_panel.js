// The tab of the flame graph: the stacks of the selected events, the callers on top. As wide as a function is, so many
// of the events came by it.

import { clamp, cutText, element, Surface } from './dom.js';
import { color, isDark } from './theme.js';
import { countText, visibleText } from './text.js';

const kFlameRow = 19;

// {frame, count, children}: a tree of frames, from how often each stack occurred.
export function flameTree(trace, events) {
  const counts = new Map();
  let without = 0;
  for (const event of events) {
    const stack = trace.stack[event];
    if (stack === 0) ++without;
    else counts.set(stack, (counts.get(stack) ?? 0) + 1);
  }
  const root = { frame: -1, count: 0, children: new Map() };
  for (const [stack, count] of counts) {
    root.count += count;
    let node = root;
    for (let at = trace.stackBegin[stack]; at-- > trace.stackBegin[stack - 1];) {
      const frame = trace.stackFrames[at];
      if (!node.children.has(frame)) node.children.set(frame, { frame, count: 0, children: new Map() });
      node = node.children.get(frame);
      node.count += count;
    }
  }
  return { root, without };
}

export class FlamePanel {
  constructor(app) {
    this.app = app;
    this.name = 'Flame graph';
    this.hasSubject = false;
  }

  show(content) {
    const { root, without } = flameTree(this.app.trace, this.app.chosen.events);
    if (root.count === 0) {
      const why =
        'None of the selected events has a stack. A trigger records some: ' +
        "landtrace record -e EVENT --trigger stacktrace -- CMD; or the option 'stacktrace' of an instance.";
      content.replaceChildren(element('p', { className: 'empty' }, why));
      return;
    }
    this.root = root;
    this.without = without;
    this.canvas = element('canvas', { tabIndex: 0, role: 'img' });
    this.canvas.setAttribute('aria-label', 'Flame graph: arrow keys move, Enter zooms, Backspace zooms out');
    content.replaceChildren(this.canvas);
    this.surface = new Surface(this.canvas);
    this.#zoom(root);
    this.#listen();
  }

  #zoom(node) {
    this.top = node;
    this.current = node;
    this.boxes = [];
    this.#place(node, 0, 1, 0, null);
    const depth = this.boxes.reduce((most, box) => Math.max(most, box.depth), 0);
    this.canvas.style.height = `${Math.max((depth + 2) * kFlameRow, 40)}px`;
    this.draw();
  }

  #place(node, left, width, depth, parent) {
    const box = { node, left, width, depth, parent };
    this.boxes.push(box);
    let at = left;
    for (const child of [...node.children.values()].sort((a, b) => b.count - a.count)) {
      const part = (width * child.count) / node.count;
      if (part > 1e-4) this.#place(child, at, part, depth + 1, box);
      at += part;
    }
  }

  nameOf(node) {
    return node.frame < 0 ? 'all' : visibleText(this.app.trace.frames[node.frame].name);
  }
  boxText({ node }) {
    const file = node.frame < 0 ? '' : this.app.trace.frames[node.frame].file;
    const part = ((100 * node.count) / this.root.count).toFixed(1);
    const rest = node === this.root && this.without > 0 ? `; ${countText(this.without)} events have no stack` : '';
    return `${this.nameOf(node)}${file ? ` [${visibleText(file)}]` : ''}: ${countText(node.count)} (${part} %)${rest}`;
  }

  draw() {
    if (!this.surface?.canvas.isConnected) return;
    const context = this.surface.begin();
    const { width } = this.surface;
    for (const box of this.boxes) {
      const [x, wide] = [box.left * width, box.width * width];
      if (wide < 0.7) continue;
      const y = kFlameRow + box.depth * kFlameRow;
      context.fillStyle = warm(this.nameOf(box.node), box.node.frame < 0);
      context.fillRect(x, y, Math.max(1, wide - 1), kFlameRow - 1);
      if (box.node === this.current) {
        context.strokeStyle = color('--text');
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(1, wide - 3), kFlameRow - 3);
      }
      if (wide < 24) continue;
      context.fillStyle = isDark() ? '#10151c' : '#1b1206';
      context.fillText(cutText(context, this.nameOf(box.node), wide - 8), x + 4, y + kFlameRow / 2);
    }
    const said = this.boxes.find((box) => box.node === this.current) ?? this.boxes[0];
    context.fillStyle = color('--text');
    context.fillText(cutText(context, this.boxText(said), width - 16), 8, kFlameRow / 2);
  }

  #listen() {
    const { canvas } = this;
    const boxAt = (event) => {
      const depth = Math.floor(event.offsetY / kFlameRow) - 1;
      const at = event.offsetX / canvas.clientWidth;
      return this.boxes.find((box) => box.depth === depth && at >= box.left && at < box.left + box.width);
    };
    canvas.addEventListener('pointermove', (event) => this.#moveTo(boxAt(event)));
    canvas.addEventListener('click', (event) => {
      const box = boxAt(event);
      if (box) this.#zoom(box.node === this.top ? this.root : box.node);
    });
    canvas.addEventListener('keydown', (event) => this.#key(event));
  }

  #moveTo(box) {
    if (!box || box.node === this.current) return;
    this.current = box.node;
    this.app.say(this.boxText(box));
    this.draw();
  }

  #key(event) {
    const at = this.boxes.find((box) => box.node === this.current);
    const beside = this.boxes.filter((box) => box.depth === at.depth);
    const moves = {
      ArrowUp: () => this.#moveTo(at.parent),
      ArrowDown: () => this.#moveTo(this.boxes.find((box) => box.parent === at)),
      ArrowLeft: () => this.#moveTo(beside[clamp(beside.indexOf(at) - 1, 0, beside.length - 1)]),
      ArrowRight: () => this.#moveTo(beside[clamp(beside.indexOf(at) + 1, 0, beside.length - 1)]),
      Enter: () => this.#zoom(at.node),
      Backspace: () => this.#zoom(this.root),
    };
    if (!moves[event.key]) return;
    moves[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }
}

// The same function has the same colour.
function warm(name, isRoot) {
  if (isRoot) return color('--line');
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return `hsl(${18 + (hash % 34)} ${62 + (hash % 23)}% ${isDark() ? 58 + (hash % 9) : 64 + (hash % 12)}%)`;
}
