// Elements, with text that stays text.

// element('td', {className: 'name', tabIndex: 0}, 'text', child)
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

// A canvas with as many pixels as the screen has there; drawing is in CSS pixels.
export class Surface {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.width = 0;
    this.height = 0;
  }
  begin() {
    const { canvas, context } = this;
    const scale = window.devicePixelRatio || 1;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    const width = Math.max(1, Math.round(this.width * scale));
    const height = Math.max(1, Math.round(this.height * scale));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.textBaseline = 'middle';
    context.font = kFont;
    return context;
  }
}

export const kFont = '11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

const widths = new Map(); // of single characters: all that is needed to cut a text

function characterWidth(context, c) {
  let width = widths.get(c);
  if (width === undefined) {
    width = context.measureText(c).width;
    widths.set(c, width);
  }
  return width;
}

// As much of the text as fits, with a sign that there is more; '' if that is nothing.
export function cutText(context, text, room) {
  let width = 0;
  let fitting = 0;
  const dots = characterWidth(context, '…');
  for (let i = 0; i < text.length; ++i) {
    width += characterWidth(context, text[i]);
    if (width + dots <= room) fitting = i + 1;
    if (width > room) return fitting > 0 ? `${text.slice(0, fitting)}…` : '';
  }
  return text;
}

export function clamp(value, least, most) {
  return Math.max(least, Math.min(most, value));
}
