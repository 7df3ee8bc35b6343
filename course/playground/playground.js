// The page: its settings, its pictures, and the worker that trains.
import { D, PRIMES, SETTINGS, T, defaults, makeData, nearest, readSettings, writeSettings } from "./run.js";

const $ = (id) => document.getElementById(id);
const MEMORISED = 0.99, UNDERSTOOD = 0.95;
const LIVE = ["decay", "kl", "rate"]; // settings that turn while a run goes on
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

let { settings, remarks } = readSettings(location.search);
let records = [], ghost = [], embeddings = null, going = false, sizes = null, pace = null, turn = 0;
// What the run began with, what holds now, and what was turned between: {epoch, name, value}.
let ran = settings, holds = settings, changes = [];

// --- the worker, or the same code in this thread ------------------------------------------------

let send;
async function connect() {
  try {
    const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => hear(data);
    worker.onerror = (event) => fail(event.message || "The worker could not be started.");
    send = (order) => worker.postMessage(order);
  } catch {
    const { trainer } = await import("./worker.js");
    const order = trainer(hear, import.meta.url);
    let chain = Promise.resolve();
    send = (message) => (chain = chain.then(() => order(message)));
    note("This browser has no workers: the run shares the page's own thread and is slower.");
  }
}

// Reports of a run that was left are still on their way when the next one begins.
function hear(message) {
  if (message.turn !== undefined && message.turn !== turn) return;
  if (message.type === "failed") fail(message.why);
  if (message.type === "started") {
    sizes = message.sizes;
    if (!message.simd) note("This browser has no WebAssembly SIMD: the run is about four times slower.");
  }
  if (message.type === "changed") {
    heed(message);
    draw();
  }
  if (message.type === "records") {
    records.push(...message.records);
    embeddings = message.embeddings;
    measurePace();
    nameGo();
    draw();
  }
}

function note(line) {
  if (!remarks.includes(line)) remarks.push(line);
  $("remarks").textContent = remarks.join("\n");
}

function fail(why) {
  note(`The run has stopped: ${why}`);
  setGoing(false);
}

function measurePace() {
  const now = performance.now(), epoch = records.at(-1).epoch;
  if (going && pace && epoch > pace.epoch && now - pace.time > 400) {
    $("pace").textContent = `epoch ${epoch.toLocaleString("en")} · ${Math.round(((epoch - pace.epoch) * 1000) / (now - pace.time))} epochs a second`;
    pace = { epoch, time: now };
  } else if (!going || !pace) {
    $("pace").textContent = `epoch ${epoch.toLocaleString("en")}`;
    pace = going ? { epoch, time: now } : null;
  }
}

// --- orders -----------------------------------------------------------------------------------------

function setGoing(value) {
  going = value;
  pace = null;
  nameGo();
  $("step").disabled = going;
}

function nameGo() {
  $("go").textContent = going ? "Pause" : records.at(-1)?.epoch > 0 ? "Continue" : "Start";
}

function begin({ start }) {
  if (records.length > 1) {
    ghost = records;
    remember();
  }
  records = [];
  ran = holds = settings;
  changes = [];
  $("shared").textContent = "";
  embeddings = null;
  setGoing(false);
  turn += 1;
  send({ type: "start", turn, settings });
  describe();
  if (start) toggle();
}

// The worker's word that a setting was turned, and at which epoch. Before the first step nothing
// has been trained with the old value, so the run begins with the new one.
function heed({ epoch, settings: now }) {
  if (epoch === 0) ran = now;
  else for (const name of LIVE) {
    if (now[name] === holds[name]) continue;
    const same = changes.findLastIndex((change) => change.name === name && change.epoch === epoch);
    if (same >= 0) changes.splice(same, 1);
    const before = changes.findLast((change) => change.name === name)?.value ?? ran[name];
    if (now[name] !== before) changes.push({ epoch, name, value: now[name] });
  }
  holds = now;
}

// In words, how a run was set: what differs from the start settings, and what was turned when.
function story() {
  const say = {
    task: (value) => formula(value), p: (value) => `p ${value}`, distractors: (value) => `${value} distractors`,
    train: (value) => `${Math.round(100 * value)} % to train on`, decay: (value) => `decay ${value}`, kl: (value) => `KL ${value}`,
    rate: (value) => `learning rate ${value}`, seed: (value) => `seed ${value}`,
  };
  const start = defaults(), parts = [];
  for (const name of Object.keys(SETTINGS)) {
    const turned = changes.filter((change) => change.name === name);
    if (ran[name] === start[name] && !turned.length) continue;
    const from = ({ value, epoch }) => `${value} from epoch ${epoch.toLocaleString("en")}`;
    const then = turned.length < 4 ? turned.map((change) => `, then ${from(change)}`).join("")
      : `, turned ${turned.length} times, last to ${from(turned.at(-1))}`;
    parts.push(say[name](ran[name]) + then);
  }
  return parts.join("; ") || "start settings";
}

// A line of the table of runs: how the run that is left was set, and when it had come how far.
function remember() {
  const when = (epoch) => epoch?.toLocaleString("en") ?? `not by ${ghost.at(-1).epoch.toLocaleString("en")}`;
  const row = document.createElement("tr");
  for (const text of [story(), when(reach("trainAccuracy", MEMORISED, ghost)), when(reach("testAccuracy", UNDERSTOOD, ghost))]) {
    row.appendChild(document.createElement("td")).textContent = text;
  }
  $("runs").hidden = false;
  $("runs").tBodies[0].append(row);
}

function toggle() {
  setGoing(!going);
  send({ type: going ? "go" : "pause" });
}

// --- settings -------------------------------------------------------------------------------------------

const RATES = SETTINGS.rate, span = Math.log(RATES.most / RATES.least);
const toSlider = (rate) => Math.log(rate / RATES.least) / span;
const fromSlider = (place) => Number((RATES.least * Math.exp(place * span)).toPrecision(2));
const input = (name) => $(name === "kl" ? "kl-strength" : name);

function showSettings() {
  for (const name of Object.keys(SETTINGS)) input(name).value = name === "rate" ? toSlider(settings.rate) : settings[name];
  for (const name of ["train", ...LIVE]) sayValue(name, settings[name]);
}

function sayValue(name, value) {
  const shown = name === "train" ? `${Math.round(100 * value)} %` : String(value);
  document.querySelector(`output[for="${input(name).id}"]`).value = shown;
  input(name).setAttribute("aria-valuetext", shown);
}

function fieldValue(name) {
  const { value } = input(name);
  return typeof SETTINGS[name].start === "string" ? value : name === "rate" ? fromSlider(Number(value)) : Number(value);
}

function setAddress() {
  const query = writeSettings(settings);
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
}

function changed(name) {
  let value = fieldValue(name);
  if (name === "seed") {
    const { value: whole, remark } = nearest("seed", $("seed").value, settings.seed);
    value = whole;
    $("seed-word").textContent = remark;
  }
  if (value === settings[name]) return showSettings();
  settings = { ...settings, [name]: value };
  showSettings();
  setAddress();
  if (!LIVE.includes(name)) return begin({ start: false });
  $("shared").textContent = "";
  send({ type: "change", settings });
}

const formula = (task) => `a ${{ "+": "+", "-": "−", "*": "×" }[task]} b`;

function describe() {
  document.querySelector(".sum").textContent = `${formula(settings.task)} modulo ${settings.p}`;
  document.querySelector(".divisor").textContent = settings.p;
  const [{ tokens, target }] = makeData({ ...settings, p: settings.p }).train.slice(40);
  const fill = { alphabet: (t) => "ABCD"[t - settings.p - 1], constant: () => "·", random: String }[settings.distractors];
  document.querySelector(".example").textContent = `${tokens[0]} ${fill(tokens[1])} ${tokens[2]} ${fill(tokens[3])} = ${target}`;
}

// --- pictures ----------------------------------------------------------------------------------------------

function prepare(canvas) {
  const scale = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  return { pen, width, height };
}

function niceStep(range, most) {
  const raw = range / most, unit = 10 ** Math.floor(Math.log10(raw));
  return unit * [1, 2, 5, 10].find((n) => n * unit >= raw);
}

// Curves over epochs. `lines`: {of, key, colour, width, dash}; `scale`: {least, most, log}.
// A logarithmic axis grows until it holds every value.
function chart(id, lines, { least, most, log, ticks }) {
  const { pen, width, height } = prepare($(id)), left = 46, right = 10, top = 8, bottom = 38;
  if (log) {
    for (const { of, key } of lines) for (const record of of) {
      if (record[key] > 0 && record[key] < Infinity) [least, most] = [Math.min(least, record[key]), Math.max(most, record[key])];
    }
    const [low, high] = [Math.max(-9, Math.floor(Math.log10(least))), Math.ceil(Math.log10(most))];
    [least, most] = [10 ** low, 10 ** high];
    const each = Math.ceil((high - low) / 5);
    ticks = Array.from({ length: high - low + 1 }, (_, i) => low + i).filter((power) => power % each === 0).map((power) => Number(`1e${power}`));
  }
  const end = Math.max(500, records.at(-1)?.epoch ?? 0, ghost.at(-1)?.epoch ?? 0);
  const X = (epoch) => left + (epoch / end) * (width - left - right);
  const position = (v) => (log ? (Math.log10(Math.max(v, least)) - Math.log10(least)) / (Math.log10(most) - Math.log10(least)) : (v - least) / (most - least));
  const Y = (v) => height - bottom - Math.min(1, Math.max(0, position(v))) * (height - top - bottom);
  pen.strokeStyle = colour("grid");
  pen.fillStyle = colour("soft");
  pen.lineWidth = 1;
  pen.textAlign = "right";
  for (const tick of ticks) {
    pen.beginPath(); pen.moveTo(left, Y(tick)); pen.lineTo(width - right, Y(tick)); pen.stroke();
    pen.fillText(log && tick < 0.01 ? tick.toExponential(0) : String(tick), left - 6, Y(tick));
  }
  pen.textAlign = "center";
  const step = niceStep(end, width / 80);
  for (let epoch = 0; epoch <= end; epoch += step) pen.fillText(epoch.toLocaleString("en"), Math.min(X(epoch), width - 16), height - 26);
  pen.fillText("epoch", (left + width - right) / 2, height - 8);
  pen.strokeStyle = colour("soft");
  pen.setLineDash([2, 4]);
  for (const epoch of new Set(changes.map((change) => change.epoch))) { pen.beginPath(); pen.moveTo(X(epoch), top); pen.lineTo(X(epoch), height - bottom); pen.stroke(); }
  for (const { of, key, colour: name, width: thick = 2, dash = [] } of lines) {
    if (!of.length) continue;
    pen.beginPath();
    const skip = Math.max(1, Math.floor(of.length / (2 * width)));
    of.forEach((record, i) => { if (i % skip === 0 || i === of.length - 1) pen.lineTo(X(record.epoch), Y(record[key])); });
    pen.strokeStyle = colour(name);
    pen.lineWidth = thick;
    pen.setLineDash(dash);
    pen.stroke();
  }
  pen.setLineDash([]);
}

function legend(id, entries) {
  if (changes.length) entries = [...entries, ["soft", "a setting was turned", "turned"]];
  const wanted = entries.map(([name, text]) => name + text).join();
  if ($(id).dataset.shown === wanted) return;
  $(id).dataset.shown = wanted;
  $(id).replaceChildren(...entries.map(([name, text, kind]) => {
    const item = document.createElement("span");
    item.textContent = text;
    item.style.setProperty("--mark", `var(--${name})`);
    if (kind) item.className = kind;
    return item;
  }));
}

const POSITIONS = ["a", "distractor", "b", "distractor", "="];

function drawAttention(now) {
  const { pen, width, height } = prepare($("attention")), bottom = 40, top = 8, slot = width / T;
  POSITIONS.forEach((name, j) => {
    const share = now.attention[j], tall = share * (height - top - bottom), x = (j + 0.5) * slot;
    pen.fillStyle = colour(j === 0 || j === 2 ? "structure" : "ghost");
    pen.fillRect(x - slot * 0.32, height - bottom - tall, slot * 0.64, tall);
    pen.fillStyle = colour("ink");
    pen.textAlign = "center";
    pen.fillText(share.toFixed(2), x, height - bottom + 13);
    pen.fillText(name, x, height - 10);
  });
  pen.strokeStyle = colour("soft");
  pen.setLineDash([3, 3]);
  const half = height - bottom - 0.5 * (height - top - bottom);
  for (const j of [0, 2]) { pen.beginPath(); pen.moveTo(j * slot + 4, half); pen.lineTo((j + 1) * slot - 4, half); pen.stroke(); }
  pen.setLineDash([]);
  pen.fillStyle = colour("soft");
  pen.fillText("oracle: 0.5", 0.5 * slot, half - 10);
  label("attention", `Mean attention: ${POSITIONS.map((name, j) => `${name} ${now.attention[j].toFixed(2)}`).join(", ")}. The oracle has 0.5 on each number.`);
}

// The order in which the numbers form waves: as they are for + and -, by discrete logarithm for a product.
function waveOrder(p) {
  if (settings.task !== "*") return Array.from({ length: p }, (_, i) => i);
  for (let root = 2; ; root++) {
    const powers = [1];
    while (powers.at(-1) * root % p !== 1) powers.push((powers.at(-1) * root) % p);
    if (powers.length === p - 1) return powers;
  }
}

function strongestWave(E, p) {
  const order = waveOrder(p), n = order.length;
  let best = { power: -1 }, sum = 0;
  for (let k = 1; k <= n / 2; k++) {
    const c = new Float64Array(D), s = new Float64Array(D);
    order.forEach((token, i) => {
      const cos = Math.cos((2 * Math.PI * k * i) / n), sin = Math.sin((2 * Math.PI * k * i) / n);
      for (let d = 0; d < D; d++) { c[d] += cos * E[token * D + d]; s[d] += sin * E[token * D + d]; }
    });
    let power = 0;
    for (let d = 0; d < D; d++) power += c[d] * c[d] + s[d] * s[d];
    sum += power;
    if (power > best.power) best = { power, k, c, s };
  }
  return { ...best, share: best.power / sum, order, n };
}

function drawCircle() {
  const { pen, width, height } = prepare($("circle"));
  if (!embeddings) return;
  const p = embeddings.length / D, { k, c, s, share, order, n } = strongestWave(embeddings, p);
  const size = (v) => Math.sqrt(v.reduce((a, b) => a + b * b, 0));
  const cLength = size(c), along = s.reduce((a, v, d) => a + v * c[d], 0) / (cLength * cLength);
  const s2 = s.map((v, d) => v - along * c[d]), sLength = size(s2);
  const points = order.map((token, i) => {
    let x = 0, y = 0;
    for (let d = 0; d < D; d++) { x += (E(token, d) * c[d]) / cLength; y += (E(token, d) * s2[d]) / sLength; }
    return { token, turn: (k * i) % n / n, x, y };
  });
  function E(token, d) { return embeddings[token * D + d]; }
  const meanX = points.reduce((a, q) => a + q.x, 0) / n, meanY = points.reduce((a, q) => a + q.y, 0) / n;
  const radius = Math.max(...points.map((q) => Math.hypot(q.x - meanX, q.y - meanY))), reach = Math.min(width, height) / 2 - 26;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  pen.textAlign = "center";
  for (const { token, turn, x, y } of points) {
    pen.fillStyle = `hsl(${360 * turn} 70% ${dark ? 68 : 36}%)`;
    pen.fillText(String(token), width / 2 + ((x - meanX) / radius) * reach, height / 2 - 6 + ((y - meanY) / radius) * reach);
  }
  pen.fillStyle = colour("soft");
  pen.fillText(`wave ${k} has ${Math.round(100 * share)} % of their variance`, width / 2, height - 9);
  label("circle", `The numbers' embeddings along wave ${k}, which has ${Math.round(100 * share)} per cent of their variance. Colour: the place on that wave.`);
}

const label = (id, text) => $(id).setAttribute("aria-label", text);
const reach = (key, level, from = records) => from.find((record) => record[key] >= level)?.epoch;

function tell() {
  const now = records.at(-1), memorised = reach("trainAccuracy", MEMORISED), understood = reach("testAccuracy", UNDERSTOOD);
  const n = (x) => x.toLocaleString("en"), percent = (x) => `${Math.round(100 * x)} %`;
  const seen = sizes ? ` It learns from ${n(sizes.train)} pairs and is tested on the other ${n(sizes.test)}. To go once through all ${n(sizes.train)} is an epoch.` : "";
  let text;
  if (now.epoch === 0) text = `Ready.${seen} Press Start.`;
  else if (!Number.isFinite(now.trainLoss)) text = `The loss is no longer a number at epoch ${n(now.epoch)}: the learning rate is too large.`;
  else if (memorised === undefined && understood === undefined) text = `Learning its pairs by heart: ${percent(now.trainAccuracy)} of the training pairs, ${percent(now.testAccuracy)} of the test pairs.`;
  else if (understood === undefined) text = `Memorised at epoch ${n(memorised)}. Since then it waits: now ${percent(now.testAccuracy)} of the test pairs are right${settings.task === "-" ? "" : ` (${percent(now.unmirrored)} of those whose mirror image, (b, a), it has not learned from either)`}, and KL is ${now.kl.toPrecision(2)} nats.`;
  else if (memorised === undefined || understood <= memorised) text = `Understood at epoch ${n(understood)}: ${percent(UNDERSTOOD)} of the test pairs are right. There was no wait: ${percent(MEMORISED)} of the training pairs were ${memorised === undefined ? "not right until now" : `right at epoch ${n(memorised)}`}.`;
  else text = `Memorised at epoch ${n(memorised)}. Understood at epoch ${n(understood)}: ${percent(UNDERSTOOD)} of the test pairs are right. The wait took ${n(understood - memorised)} epochs.`;
  const before = reach("testAccuracy", UNDERSTOOD, ghost), known = reach("trainAccuracy", MEMORISED, ghost);
  if (ghost.length) text += before === undefined ? ` The run before (grey) had not understood by epoch ${n(ghost.at(-1).epoch)}.`
    : ` The run before (grey) understood at epoch ${n(before)}${known < before ? `, after a wait of ${n(before - known)}` : ""}.`;
  $("short").textContent = `training ${percent(now.trainAccuracy)}, test ${percent(now.testAccuracy)}`;
  if ($("status").textContent !== text) $("status").textContent = text;
  return text;
}

let due = false;
function draw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    const now = records.at(-1);
    if (!now) return;
    const commutes = settings.task !== "-", old = ghost.length ? [["ghost", "run before"]] : [];
    chart("accuracy", [
      { of: ghost, key: "testAccuracy", colour: "ghost" },
      ...(commutes ? [{ of: records, key: "unmirrored", colour: "unmirrored", width: 1.5, dash: [4, 3] }] : []),
      { of: records, key: "trainAccuracy", colour: "train" },
      { of: records, key: "testAccuracy", colour: "test", width: 3 },
    ], { least: 0, most: 1, ticks: [0, 0.25, 0.5, 0.75, 1] });
    legend("accuracy-legend", [["train", "training pairs"], ["test", "test pairs"], ...(commutes ? [["unmirrored", "test pairs (a, b) that were not trained as (b, a) either: watch this one", "dashed"]] : []), ...old]);
    chart("loss", [
      { of: ghost, key: "testLoss", colour: "ghost" },
      { of: records, key: "trainLoss", colour: "train" },
      { of: records, key: "testLoss", colour: "test", width: 3 },
    ], { least: 1e-3, most: 10, log: true });
    legend("loss-legend", [["train", "training"], ["test", "test"], ...old]);
    chart("kl", [
      { of: ghost, key: "kl", colour: "ghost" },
      { of: records, key: "kl", colour: "structure" },
    ], { least: 1e-3, most: 1, log: true });
    legend("kl-legend", [["structure", "training pairs"], ...old]);
    drawAttention(now);
    drawCircle();
    const text = tell();
    label("accuracy", `Accuracy over ${now.epoch} epochs. ${text}`);
    label("loss", `Loss at epoch ${now.epoch}: training ${now.trainLoss.toPrecision(2)}, test ${now.testLoss.toPrecision(2)} nats.`);
    label("kl", `KL divergence from the oracle's attention at epoch ${now.epoch}: ${now.kl.toPrecision(2)} nats; at the start ${records[0].kl.toPrecision(2)}.`);
  });
}

// --- begin ----------------------------------------------------------------------------------------------------

$("p").replaceChildren(...PRIMES.map((p) => new Option(String(p), String(p))));
// A slider says its value while it is drawn, and turns the run where it is let go.
for (const name of Object.keys(SETTINGS)) {
  input(name).addEventListener("change", () => changed(name));
  if (input(name).type === "range") input(name).addEventListener("input", () => sayValue(name, fieldValue(name)));
}
$("go").addEventListener("click", toggle);
$("step").addEventListener("click", () => send({ type: "step", epochs: 10 }));
$("again").addEventListener("click", () => begin({ start: false }));
$("reset").addEventListener("click", () => { settings = defaults(); $("seed-word").textContent = ""; showSettings(); setAddress(); begin({ start: false }); });
$("share").addEventListener("click", async () => {
  setAddress();
  const turned = LIVE.filter((name) => changes.some((change) => change.name === name));
  const values = turned.map((name) => `${{ decay: "decay", kl: "KL strength", rate: "learning rate" }[name]} ${settings[name]}`);
  const words = turned.length ? ` You turned a setting while this run went on: the link starts with ${values.join(" and ")} from epoch 0.` : "";
  try {
    await navigator.clipboard.writeText(location.href);
    $("shared").textContent = `The link is copied.${words}`;
  } catch {
    $("shared").textContent = `${location.href}${words}`;
  }
});
for (const link of document.querySelectorAll("a.try")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    settings = { ...readSettings(new URL(link.href).search).settings, seed: settings.seed };
    showSettings();
    setAddress();
    begin({ start: true });
    $("run-title").scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  });
}
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

$("remarks").textContent = remarks.join("\n");
showSettings();
await connect();
begin({ start: false });
// For tests: what the page holds, and an order to the worker.
globalThis.playground = { get records() { return records; }, get changes() { return changes; }, get going() { return going; }, send: (order) => send(order), begin };
