// Draws every widget from a scene: plain data that Python computed (grokkit/viz/scene.py says
// what it may hold). A scene holds all that its controls can show, so no kernel is needed.
// `render` is what anywidget calls; `mount` puts a scene on a page of its own.

const CSS = `
:host { display: block; max-width: 980px; }
* { box-sizing: border-box; }
.root { --keep: 100%; --ink: #262626; --soft: #595959; --line: #cccccc; color: var(--ink);
  font: 13px/1.4 system-ui, "DejaVu Sans", sans-serif; padding: 4px 2px; }
.root.dark { --keep: 50%; --ink: #eeeeee; --soft: #b8b8b8; --line: #4a4a4a; }
.controls, .row { display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: center; }
.control { display: flex; align-items: center; gap: 8px; min-width: 0; max-width: 100%; }
.slider { flex: 1 1 300px; max-width: 470px; }
.slider label { flex: 1; display: flex; align-items: center; gap: 8px; min-width: 0; }
.slider input { flex: 1; min-width: 70px; height: 28px; margin: 0;
  accent-color: color-mix(in oklab, #0069A6 var(--keep), white); }
output { min-width: max(46px, var(--room, 0ch)); font-variant-numeric: tabular-nums;
  white-space: nowrap; }
@media (max-width: 480px) { output { min-width: 46px; white-space: normal; } }
button, select { font: inherit; color: var(--ink); background: var(--paper); padding: 4px 10px;
  border: 1px solid var(--soft); border-radius: 4px; min-height: 28px; max-width: 100%; }
button[aria-pressed=true] { background: var(--ink); color: var(--paper); }
:disabled { opacity: .45; }
:focus-visible { outline: 3px solid color-mix(in oklab, #0069A6 var(--keep), white);
  outline-offset: 2px; }
.head { font-weight: 700; font-size: 14px; margin: 8px 0 0; }
.below { margin: 0 0 4px; color: var(--soft); }
.row { align-items: flex-start; gap: 4px 14px; }
figure { margin: 0; min-width: 0; }
.title { font-weight: 700; min-height: 1.4em; }
.legend { display: flex; flex-wrap: wrap; gap: 0 12px; font-size: 12px; padding-left: 52px; }
.legend svg { width: 26px; height: 10px; margin-right: 5px; }
figure > div > svg { display: block; width: 100%; overflow: visible; }
svg text { font: 11px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
[role=alert] { border-left: 4px solid #B00020; background: #FDECEA; color: #5F0010;
  padding: 4px 10px; white-space: pre-wrap; overflow-x: auto; }
`;

const escape = words => String(words).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
const plain = v => Math.abs(v) >= 1000
  ? Math.round(v).toLocaleString("en-US") : String(+(+v).toPrecision(3));
const nearest = (values, to) => values.reduce(
  (best, v, i) => Math.abs(v - to) < Math.abs(values[best] - to) ? i : best, 0);

// --- what a scene says in one state of its controls -----------------------------------------

export function reader(scene, state) {
  const control = name => scene.controls.find(one => one.name === name);
  const index = name => state[name] ?? control(name)?.index ?? 0;
  const item = (list, i) => list[Math.min(i, list.length - 1)];
  const values = name => pick(control(name).values);
  const value = name => item(values(name), index(name));
  const label = name => {
    const { labels } = control(name);
    return labels ? item(pick(labels), index(name)) : plain(value(name));
  };
  let computed = null;
  const outputs = () => computed ??= COMPUTE[scene.compute](scene.data, value);
  const word = name => {
    if (scene.words && name in scene.words) return pick(scene.words[name]);
    if (control(name)) return label(name);
    const out = scene.compute && outputs()[name];
    return typeof out === "number" ? out.toFixed(2) : out || null;
  };
  const pick = ref => {
    if (typeof ref === "string") return ref.replace(/\{(\w+)\}/g, (all, n) => word(n) ?? all);
    if (ref === null || typeof ref !== "object" || Array.isArray(ref)) return ref;
    if ("by" in ref) return pick(item(ref.of, index(ref.by)));
    if ("at" in ref) return value(ref.at);
    if ("out" in ref) return outputs()[ref.out];
    if ("get" in ref) {
      const all = pick(scene.data[ref.get]);
      return ref.i ? pick(item(all, index(ref.i))) : all;
    }
    return ref;
  };
  return { pick, index, values, value, label, outputs };
}

// The state after one control was moved: what depends on it follows.
export function moved(scene, state, name, to) {
  const before = reader(scene, state);
  const next = { ...state, [name]: to };
  const mover = scene.controls.find(one => one.name === name);
  Object.assign(next, mover.sets?.[to]);
  for (const one of scene.controls)
    if (one.name !== name && one.values && !Array.isArray(one.values)) {
      const values = reader(scene, next).values(one.name), last = before.values(one.name).length - 1;
      // The last epoch stays the last one, though another run has more of them.
      next[one.name] = before.index(one.name) === last ? values.length - 1
        : nearest(values, before.value(one.name));
    }
  const order = scene.ordered ?? [], place = order.indexOf(name);
  if (place >= 0) order.forEach((other, at) => {
    if ((reader(scene, next).index(other) - to) * (at - place) < 0) next[other] = to;
  });
  return next;
}

// Two sequences pooled by one attention; held against grokkit.widgets.routing_playground.
const COMPUTE = {
  routing(data, value) {
    const { values, other_value, informative, position: i, gamma } = data;
    const share = weights => weights.map(w => w / weights.reduce((sum, one) => sum + one));
    const mix = (parts, points) => [0, 1].map(
      axis => points.reduce((sum, point, j) => sum + parts[j] * point[axis], 0));
    const gap = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
    const weights = values.map((_, j) => value(`w${j}`));
    const swap = (list, one) => list.map((old, j) => j === i ? one : old);
    const alpha = share(weights), beta = share(swap(weights, value("other")));
    const h = mix(alpha, values), h2 = mix(beta, swap(values, other_value));
    const m = mix(share(swap(weights, 0)), values);
    const spread = Math.max(gap(values[i], m), gap(other_value, m));
    const [a, b] = [alpha[i], beta[i]];
    const upper = (a + b) * spread, distance = gap(h, h2);
    const holds = parts => parts.every((p, j) => !informative[j] || p >= gamma);
    return { alpha, beta, h, h2, m, distance, upper,
      in_x: holds(alpha) ? "holds" : "is broken", in_other: holds(beta) ? "holds" : "is broken",
      hx: [h[0], h2[0]], hy: [h[1], h2[1]], mx: [m[0]], my: [m[1]],
      way_x: [m[0], values[i][0]], way_y: [m[1], values[i][1]],
      way2_x: [m[0], other_value[0]], way2_y: [m[1], other_value[1]],
      bars: [distance, upper],
      ...Object.fromEntries(alpha.map((p, j) => [`share${j}`, p])), share_other: b };
  },
};

// --- a panel ------------------------------------------------------------------------------

const ink = color => color === "#262626" || !color ? "var(--ink)"
  : color === "white" ? "var(--paper)" : `color-mix(in oklab, ${color} var(--keep), white)`;

const stroke = mark => `fill="none" style="stroke:${ink(mark.color)}"`
  + ` stroke-width="${mark.width ?? 1.6}" stroke-linejoin="round"`
  + (mark.opacity ? ` opacity="${mark.opacity}"` : "")
  + (mark.dash ? ` stroke-dasharray="${mark.dash}"` : "");

function scale(axis, pick, to) {
  const [low, high] = pick(axis.domain), first = pick(axis.first) ?? 1;
  const bend = { log: v => Math.log10(Math.max(v, 1e-12)),
    epochs: v => v <= first ? 0.25 * v / first : 0.25 + Math.log10(v / first) }[axis.scale]
    ?? (v => v);
  const a = bend(low), b = bend(high);
  const place = v => to[0] + (bend(v) - a) / (b - a || 1) * (to[1] - to[0]);
  const room = Math.abs(to[1] - to[0]) / (to[0] > to[1] ? 28 : 62);
  let ticks = pick(axis.ticks);
  if (!ticks && (axis.scale === "log" || axis.scale === "epochs")) {
    ticks = axis.scale === "epochs" ? [0] : [];
    const least = axis.scale === "epochs" ? Math.max(first, 2) : low * 0.999;
    for (const many of [[1, 3], [1]]) {
      ticks.length = axis.scale === "epochs" ? 1 : 0;
      for (let p = Math.floor(Math.log10(least)); 10 ** p <= high; p++)
        ticks.push(...many.map(m => +(m * 10 ** p).toPrecision(1))
          .filter(v => v >= least && v <= high));
      if (ticks.length <= room) break;
    }
    ticks = ticks.filter((_, j) => j % Math.ceil(ticks.length / Math.max(room, 2)) === 0);
  } else if (!ticks) {
    const rough = (high - low) / Math.max(2, Math.min(5, room));
    const power = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 5, 10].map(s => s * power).find(s => s >= rough) ?? 1;
    ticks = [];
    for (let v = Math.ceil(low / step - 1e-9); v * step <= high + 1e-9 * step; v++)
      ticks.push(+(v * step).toPrecision(6));
  }
  return { place, low, high, ticks: ticks.map(t => Array.isArray(t) ? t : [t, plain(t)]) };
}

function path(xs, ys, X, Y) {
  let d = "", pen = "M";
  for (let j = 0; j < xs.length; j++) {
    const x = xs[j], y = ys[j];
    if (x == null || y == null) { pen = "M"; continue; }
    d += `${pen}${X.place(x).toFixed(1)} ${Y.place(y).toFixed(1)}`;
    pen = "L";
  }
  return d;
}

const SHAPES = {
  o: (x, y, r) => `<circle cx="${x}" cy="${y}" r="${r}"/>`,
  s: (x, y, r) => `<rect x="${x - r}" y="${y - r}" width="${2 * r}" height="${2 * r}"/>`,
  D: (x, y, r) => `<path d="M${x} ${y - 1.3 * r}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}`
    + `l${-1.3 * r} ${-1.3 * r}z"/>`,
  x: (x, y, r) => `<path d="M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}"/>`,
};

// The places of a walk in the order in which they follow each other round a circle.
function around(n, k) {
  const all = [...Array(n).keys()].sort((a, b) => k * a % n - k * b % n || a - b);
  return [...all, all[0]];
}

function draw(mark, pick, index, X, Y, box) {
  const get = Object.fromEntries(Object.entries(mark).map(([key, v]) => [key, pick(v)]));
  const fit = (v, S, edge) => v == null ? edge : Math.min(Math.max(S.place(v), -1e4), 1e4);
  let { x, y } = get;
  const many = v => Array.isArray(v) ? v : [v];
  switch (mark.mark) {
    case "line": {
      if (get.round) [x, y] = [x, y].map(v => around(v.length, get.round).map(j => v[j]));
      const end = mark.upto ? index(mark.upto) + 1 : undefined;
      return `<path d="${path(x.slice(0, end), y.slice(0, end), X, Y)}" ${stroke(get)}/>`;
    }
    case "dots":
      return `<g style="fill:${ink(get.fill ?? get.color)};stroke:${ink(get.edge ?? get.color)}"`
        + ` stroke-width="1.5"${get.opacity ? ` opacity="${get.opacity}"` : ""}>`
        + many(x).map((v, j) => v == null || many(y)[j] == null ? ""
          : SHAPES[get.shape ?? "o"](X.place(v), Y.place(many(y)[j]), get.size ?? 4)).join("")
        + "</g>";
    case "bars":
      return x.map((v, j) => {
        const color = Array.isArray(get.color) ? get.color[j] : get.color;
        const half = get.width / 2, zero = (mark.across ? X : Y).place(0);
        const [a, b] = mark.across ? [zero, X.place(y[j])] : [X.place(v - half), X.place(v + half)];
        const [c, d] = mark.across ? [Y.place(v + half), Y.place(v - half)] : [Y.place(y[j]), zero];
        return `<rect x="${a}" y="${c}" width="${Math.max(b - a, 0)}" height="${Math.max(d - c, 0)}"`
          + ` style="fill:${ink(get.fill ?? color)};stroke:${ink(color)}" stroke-width="1.6"/>`;
      }).join("");
    case "dash":
      return x.map((v, j) => `<path d="M${X.place(v - get.half)} ${Y.place(y[j])}`
        + `H${X.place(v + get.half)}" ${stroke(get)}/>`).join("");
    case "area": {
      const [a, b] = [fit(get.x0, X, 0), fit(get.x1, X, box.w)];
      const [c, d] = [fit(get.y1, Y, 0), fit(get.y0, Y, box.h)];
      const words = get.text && b - a > 8 * 1.2 ? get.text.length * 6.2 < b - a ? get.text
        : get.text[0] : "";
      return b <= a ? "" : `<rect x="${a}" y="${c}" width="${b - a}" height="${Math.max(d - c, 0)}"`
        + ` style="fill:${ink(get.color)}" opacity="${get.opacity ?? 1}"/>`
        + `<text x="${(a + b) / 2}" y="${(c + d) / 2 + 4}" text-anchor="middle">${escape(words)}</text>`;
    }
    case "rule":
      if ((x ?? y) == null) return "";
      return x != null ? `<path d="M${X.place(x)} 0V${box.h}" ${stroke(get)}/>`
        : `<path d="M0 ${Y.place(y)}H${box.w}" ${stroke(get)}/>`;
    case "cursor":
      return `<rect x="${X.place(x)}" y="0" width="${Math.max(box.w - X.place(x), 0)}" `
        + `height="${box.h}" style="fill:var(--paper)" opacity=".65"/>`
        + `<path d="M${X.place(x)} 0V${box.h}" ${stroke({})}/>`;
    case "words": {
      const list = many(x), at = many(y);
      const [dx, dy] = get.shift ?? [0, 0];
      return list.map((v, j) => {
        if (v == null || at[j] == null) return "";
        const words = String(Array.isArray(get.text) ? get.text[j] : get.text);
        const half = words.length * 3.4 + 5, px = X.place(v) + dx, py = Y.place(at[j]) + dy;
        const frame = get.box ? `<rect x="${px - half}" y="${py - 10}" width="${2 * half}" height="20"`
          + ` rx="4" style="fill:${ink(get.box)};stroke:var(--ink)"/>` : "";
        const shade = get.box && get.box !== "white" ? "fill:var(--paper);font-weight:700"
          : get.color ? `fill:${ink(get.color)}` : "";
        const halo = get.box ? "" : `stroke="var(--paper)" stroke-width="3" paint-order="stroke"`;
        return frame + `<text x="${px}" y="${py + 4}" text-anchor="${get.anchor ?? "middle"}" `
          + `style="${shade}" ${halo}>${escape(words)}</text>`;
      }).join("");
    }
  }
  return "";
}

const course = (mark, pick, index) => {
  const ys = pick(mark.y).slice(0, mark.upto ? index(mark.upto) + 1 : undefined)
    .filter(v => v != null);
  return ys.length ? `${pick(mark.label)} from ${plain(ys[0])} to ${plain(ys.at(-1))}` : "";
};

function panelSvg(panel, { pick, index }, width) {
  const height = panel.height ?? 220;
  const [left, right, top, bottom] = panel.bare ? [2, 2, 2, 2] : [52, 10, 8, panel.x.label ? 36 : 10];
  const box = { w: Math.max(width - left - right, 20), h: height - top - bottom };
  let [X, Y] = [scale(panel.x, pick, [0, box.w]), scale(panel.y, pick, [box.h, 0])];
  if (panel.equal) {
    const unit = Math.max((X.high - X.low) / box.w, (Y.high - Y.low) / box.h);
    const wide = (axis, size) => {
      const [low, high] = pick(axis.domain), extra = (unit * size - (high - low)) / 2;
      return { ...axis, domain: [low - extra, high + extra] };
    };
    [X, Y] = [scale(wide(panel.x, box.w), pick, [0, box.w]),
      scale(wide(panel.y, box.h), pick, [box.h, 0])];
  }
  const marks = pick(panel.marks).map(one => pick(one)).filter(one => one);
  const paint = some => some.map(one => draw(one, pick, index, X, Y, box)).join("");
  // The last tick's words end where the picture does.
  const inside = (x, words) => Math.min(x, box.w + right - 3.3 * words.length);
  const axes = panel.bare ? "" : Y.ticks.map(([v, words]) => `<path d="M0 ${Y.place(v)}H${box.w}" `
      + `style="stroke:var(--line)" stroke-width=".7"/><text x="-6" y="${Y.place(v) + 4}" `
      + `text-anchor="end">${escape(words)}</text>`).join("")
    + X.ticks.map(([v, words]) => `<path d="M${X.place(v)} ${box.h}v4" style="stroke:var(--ink)"/>`
      + `<text x="${inside(X.place(v), words)}" y="${box.h + 16}" text-anchor="middle">`
      + `${escape(words)}</text>`).join("")
    + `<path d="M0 0V${box.h}H${box.w}" style="stroke:var(--ink)" fill="none"/>`
    + `<text x="${box.w / 2}" y="${box.h + 31}" text-anchor="middle">`
    + `${escape(pick(panel.x.label) ?? "")}</text><text transform="translate(${12 - left} `
    + `${box.h / 2})rotate(-90)" text-anchor="middle">${escape(pick(panel.y.label) ?? "")}</text>`;
  const title = pick(panel.title ?? "");
  const said = panel.says ? pick(panel.says)
    : marks.filter(one => one.mark === "line" && one.label)
      .map(one => course(one, pick, index)).filter(Boolean).join("; ");
  const svg = `<svg role="img" aria-label="${escape(`${title}: ${said}`)}" height="${height}" `
    + `viewBox="0 0 ${width} ${height}"><g transform="translate(${left} ${top})">${axes}`
    + `<svg width="${box.w}" height="${box.h}" style="overflow:hidden">`
    + `${paint(marks.filter(one => one.mark !== "words"))}</svg>`
    + `${paint(marks.filter(one => one.mark === "words"))}</g></svg>`;
  const named = new Map(marks.filter(one => one.label).map(one => [pick(one.label), one]));
  const legend = [...named].map(([words, one]) => `<span><svg aria-hidden="true">`
    + (one.mark === "dots" ? `<g style="fill:${ink(pick(one.fill ?? one.color))};`
        + `stroke:${ink(pick(one.edge ?? one.color))}">${SHAPES[one.shape ?? "o"](13, 5, 4)}</g>`
      : one.mark === "bars" ? `<rect x="5" y="1" width="16" height="8" style="fill:`
        + `${ink(one.fill ?? one.color)};stroke:${ink(one.color)}"/>`
      : `<path d="M0 5H26" ${stroke(one)}/>`) + `</svg>${escape(words)}</span>`).join("");
  return { title, svg, legend };
}

// --- the widget ---------------------------------------------------------------------------

// Whether the page behind an element is dark, and its colour.
function paper(element) {
  for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
    const [r, g, b, a] = (getComputedStyle(at).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
    if (r !== undefined && a !== 0)
      return { color: `rgb(${r} ${g} ${b})`, dark: 0.3 * r + 0.6 * g + 0.1 * b < 128 };
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return { color: dark ? "#121212" : "#ffffff", dark };
}

const make = (tag, className = "", inside = []) => {
  const made = Object.assign(document.createElement(tag), { className });
  made.append(...inside);
  return made;
};

function render({ model, el }) {
  const host = el.appendChild(make("div", "grokkit-scene"));
  const shadow = host.attachShadow({ mode: "open" });
  const style = Object.assign(document.createElement("style"), { textContent: CSS });
  const bar = make("div", "controls"), alert = make("div"), rows = make("div");
  const head = make("p", "head"), below = make("p", "below");
  const root = make("div", "root", [bar, alert, head, below, rows]);
  shadow.append(style, root);
  const scene = () => model.get("scene"), state = () => model.get("state");
  const parts = new Map();
  let shape = "", playing = null, width = 0;

  const move = (name, to) => {
    model.set("state", moved(scene(), state(), name, to));
    model.save_changes();
    show();
  };
  const play = name => {
    const { index, values } = reader(scene(), state());
    const stop = () => { clearInterval(playing); playing = null; show(); };
    if (playing) return stop();
    if (index(name) >= values(name).length - 1) move(name, 0);
    playing = setInterval(() => {
      const now = reader(scene(), state());
      if (now.index(name) >= now.values(name).length - 1 || !host.isConnected) stop();
      else move(name, now.index(name) + 1);
    }, 200);
    show();
  };

  const build = one => {
    const { name } = one;
    if (one.kind === "slider") {
      const input = Object.assign(make("input"), { type: "range", min: 0, step: 1 });
      input.oninput = () => move(name, +input.value);
      const words = make("span"), output = make("output");
      const whole = make("div", "control slider", [make("label", "", [words, input]), output]);
      const button = make("button");
      button.onclick = () => play(name);
      if (one.play) whole.append(button);
      return { whole, input, words, output, button };
    }
    if (one.kind === "menu") {
      const input = make("select"), words = make("span");
      input.onchange = () => move(name, input.selectedIndex);
      const label = make("label", "control", [words, input]);
      return { whole: label, input, words };
    }
    const input = make("button");
    input.onclick = () => one.kind === "toggle"
      ? move(name, 1 - reader(scene(), state()).index(name)) : model.send({ press: name });
    return { whole: input, input, words: input };
  };

  const control = (one, read) => {
    if (!parts.has(one.name)) parts.set(one.name, build(one));
    const { whole, input, words, output, button } = parts.get(one.name);
    if (whole.parentNode !== bar) bar.append(whole);
    const text = read.pick(one.label);
    if (words.textContent !== text) words.textContent = text;
    input.disabled = Boolean(one.disabled);
    if (one.tip) input.title = one.tip;
    whole.hidden = Boolean(one.hidden || (one.live && model.still));
    whole.style.display = whole.hidden ? "none" : "";
    const at = read.index(one.name);
    if (one.kind === "slider") {
      input.max = read.values(one.name).length - 1;
      input.value = at;
      output.textContent = one.readout ? read.pick(one.readout) : read.label(one.name);
      // Room for the longest label, so that the slider keeps its length under the hand.
      const longest = Math.max(0, ...(read.pick(one.labels) ?? []).map(label => label.length));
      output.style.setProperty("--room", `${longest}ch`);
      input.setAttribute("aria-valuetext", output.textContent);
      button.textContent = playing ? "❚❚" : "▶";
      button.setAttribute("aria-label", `${playing ? "Stop" : "Play"}: ${text}`);
    } else if (one.kind === "menu") {
      const names = read.pick(one.labels).join("\n");
      if (input.dataset.names !== names) {
        input.dataset.names = names;
        input.replaceChildren(...names.split("\n").map(n => new Option(n)));
      }
      input.selectedIndex = at;
    } else if (one.kind === "toggle") input.setAttribute("aria-pressed", at === 1);
  };

  const show = () => {
    const now = scene(), read = reader(now, state());
    const message = model.get("message") ?? "";
    alert.textContent = message;
    message ? alert.setAttribute("role", "alert") : alert.removeAttribute("role");
    now.controls.forEach(one => control(one, read));
    if (now.spoken !== false) head.setAttribute("role", "status");
    head.textContent = read.pick(now.headline);
    below.textContent = read.pick(model.still && now.resting || now.below);
    const wanted = JSON.stringify(now.rows.map(row => row.map(one => one.grow ?? 1)));
    if (wanted !== shape) {
      shape = wanted;
      rows.replaceChildren(...now.rows.map(row => make("div", "row", row.map(one => {
        const figure = make("figure", "", ["title", "", "legend"].map(n => make("div", n)));
        figure.style.flex = `${one.grow ?? 1} 1 ${row.length > 1 ? 240 : 300}px`;
        return figure;
      }))));
    }
    // All widths first: reading one after a picture was drawn would lay the page out again.
    const figures = [...rows.querySelectorAll("figure")];
    const widths = figures.map(one => Math.max(one.clientWidth, 200));
    now.rows.flat().forEach((panel, at) => {
      const { title, svg, legend } = panelSvg(panel, read, widths[at]);
      const [top, middle, bottom] = figures[at].children;
      top.textContent = title;
      middle.innerHTML = svg;
      if (bottom.innerHTML !== legend) bottom.innerHTML = legend;
    });
  };

  const recolour = () => {
    const { color, dark } = paper(el);
    root.style.setProperty("--paper", color);
    root.classList.toggle("dark", dark);
  };
  const watch = new MutationObserver(() => { recolour(); setTimeout(recolour, 500); });
  for (const one of [document.documentElement, document.body])
    watch.observe(one, { attributes: true });
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", recolour);
  const resized = new ResizeObserver(() => {
    if (root.clientWidth !== width) { width = root.clientWidth; recolour(); show(); }
  });
  resized.observe(root);
  for (const name of ["scene", "state", "message"]) model.on(`change:${name}`, show);
  // JupyterLab takes the arrow keys to move between cells, before they come here. Its listener is
  // on the document; the window is asked first. What a key does by itself, it still does.
  const keep = event => {
    if (/^(Arrow|Page|Home|End)/.test(event.key) && event.composedPath().includes(root))
      event.stopPropagation();
  };
  addEventListener("keydown", keep, true);
  recolour();
  show();
  host.outputs = () => reader(scene(), state()).outputs();
  return () => {
    clearInterval(playing);
    removeEventListener("keydown", keep, true);
    watch.disconnect();
    resized.disconnect();
    scheme.removeEventListener("change", recolour);
    for (const name of ["scene", "state", "message"]) model.off(`change:${name}`, show);
  };
}

// A scene on a page without a kernel.
export function mount(el, scene) {
  const held = { scene, state: {}, message: "" };
  const model = { still: true, get: key => held[key], set: (key, v) => { held[key] = v; },
    save_changes() {}, send() {}, on() {}, off() {} };
  return render({ model, el });
}

export default { render };
