// A run: its settings, its data, its first weights, and the kernel that trains it.
// Used by the worker, and by the page itself where there are no workers.

export const PRIMES = [23, 29, 31, 37, 41, 43, 47, 53, 59];
export const T = 5, D = 64, M = 256;
export const WEIGHTS = ["token_embedding", "position_embedding", "W_Q", "W_K", "W_V", "W_1", "b_1", "W_2", "b_2"];

// Every setting: its default (the course's live preset), and what is allowed.
export const SETTINGS = {
  task: { start: "+", choices: ["+", "-", "*"] },
  p: { start: 43, choices: PRIMES },
  distractors: { start: "alphabet", choices: ["constant", "alphabet", "random"] },
  train: { start: 0.5, least: 0.3, most: 0.8 },
  decay: { start: 1, least: 0, most: 4 },
  kl: { start: 0, least: 0, most: 3 },
  rate: { start: 0.005, least: 0.0005, most: 0.01 },
  seed: { start: 0, least: 0, most: 9999, whole: true },
};

export const defaults = () =>
  Object.fromEntries(Object.entries(SETTINGS).map(([name, { start }]) => [name, start]));

// The nearest allowed value to what somebody wrote, and a sentence where that was another one.
export function nearest(name, text, otherwise = SETTINGS[name].start) {
  const rule = SETTINGS[name], given = text.trim(), number = Number(given);
  let value = otherwise;
  if (rule.choices && typeof rule.start === "string") {
    if (rule.choices.includes(given)) value = given;
  } else if (given !== "" && !Number.isNaN(number)) {
    const least = rule.least ?? rule.choices[0], most = rule.most ?? rule.choices.at(-1);
    value = Math.min(most, Math.max(least, rule.whole ? Math.round(number) : number));
    if (rule.choices) value = rule.choices.reduce((a, b) => (Math.abs(b - value) < Math.abs(a - value) ? b : a));
  }
  if (given !== "" && (String(value) === given || value === number)) return { value, remark: "" };
  const allowed = rule.choices ? rule.choices.join(", ") : `${rule.whole ? "a whole number from " : ""}${rule.least} to ${rule.most}`;
  return { value, remark: `${name} = ${given.slice(0, 20) || "nothing"}: allowed is ${allowed}; took ${value}` };
}

// The nearest allowed settings to what a link says, and a sentence for each that was not.
export function readSettings(query) {
  const settings = defaults(), remarks = [];
  for (const [name, text] of new URLSearchParams(query)) {
    if (!SETTINGS[name]) {
      remarks.push(`${name.slice(0, 20)}: there is no such setting; left out`);
      continue;
    }
    const { value, remark } = nearest(name, text);
    settings[name] = value;
    if (remark) remarks.push(remark);
  }
  return { settings, remarks };
}

// Only what differs from the default, so that a link stays short.
export function writeSettings(settings) {
  const query = new URLSearchParams();
  for (const [name, { start }] of Object.entries(SETTINGS)) {
    if (settings[name] !== start) query.set(name, settings[name]);
  }
  return query.toString();
}

// --- chance -----------------------------------------------------------------------------------

// A stream of random numbers in [0, 1) for one purpose of one seed (xmur3, then sfc32).
export function stream(seed, purpose) {
  let h = 1779033703;
  for (const letter of `${seed}/${purpose}`) {
    h = Math.imul(h ^ letter.charCodeAt(0), 3432918353);
    h = (h << 13) | (h >>> 19);
  }
  const word = () => {
    h = Math.imul(h ^ (h >>> 16), 2246822507);
    h = Math.imul(h ^ (h >>> 13), 3266489909);
    return (h ^= h >>> 16) >>> 0;
  };
  let a = word(), b = word(), c = word(), d = 1;
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t | 0;
    return (t >>> 0) / 4294967296;
  };
  for (let i = 0; i < 16; i++) next();
  return next;
}

const normal = (next) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

// --- data ---------------------------------------------------------------------------------------

const LABEL = {
  "+": (a, b, p) => (a + b) % p,
  "-": (a, b, p) => (a - b + p) % p,
  "*": (a, b, p) => (a * b) % p,
};

// Every pair once, half of them (or so) to train on. Sequences are [a, ., b, ., =].
// Test pairs whose mirror image (b, a) is trained on come first, if mirror images have one answer.
export function makeData({ task, p, distractors, train, seed }) {
  const pairs = Array.from({ length: p * p }, (_, i) => [Math.floor(i / p), i % p]);
  const draw = stream(seed, "distractors");
  const filler = (place) =>
    distractors === "constant" ? p + 1 + place
    : distractors === "random" ? Math.floor(draw() * p)
    : p + 1 + Math.floor(draw() * 4);
  const examples = pairs.map(([a, b]) => ({
    tokens: [a, filler(0), b, filler(1), p],
    target: LABEL[task](a, b, p),
    mirror: a === b || task === "-" ? -1 : b * p + a,
  }));
  const order = pairs.map((_, i) => i), shuffle = stream(seed, "split");
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(shuffle() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  const trained = new Set(order.slice(0, Math.round(train * order.length)));
  const ascending = [...order].sort((i, j) => i - j), leaks = (i) => trained.has(examples[i].mirror);
  const rest = ascending.filter((i) => !trained.has(i));
  const testing = [...rest.filter(leaks), ...rest.filter((i) => !leaks(i))];
  return {
    p,
    vocabulary: p + 1 + (distractors === "constant" ? 2 : distractors === "alphabet" ? 4 : 0),
    train: ascending.filter((i) => trained.has(i)).map((i) => examples[i]),
    test: testing.map((i) => examples[i]),
    mirrored: rest.filter(leaks).length,
  };
}

// The first weights: embeddings normal of size 1/sqrt(D), matrices uniform in [-1, 1]/sqrt(inputs).
export function makeWeights({ p, vocabulary }, seed) {
  const draw = (name, rows, columns) => {
    const next = stream(seed, name), array = new Float32Array(rows * columns);
    const embedding = name.endsWith("embedding"), bound = 1 / Math.sqrt(embedding ? D : rows);
    return array.map(() => bound * (embedding ? normal(next) : 2 * next() - 1));
  };
  const shapes = {
    token_embedding: [vocabulary, D], position_embedding: [T, D],
    W_Q: [D, D], W_K: [D, D], W_V: [D, D], W_1: [D, M], W_2: [M, p],
  };
  const weights = { b_1: new Float32Array(M), b_2: new Float32Array(p) };
  for (const [name, [rows, columns]] of Object.entries(shapes)) weights[name] = draw(name, rows, columns);
  return weights;
}

// --- the kernel -----------------------------------------------------------------------------------

// The smallest module with a SIMD instruction in it: i32.const 0, i8x16.splat, drop.
const SIMD_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0, 65, 0, 253, 15, 26, 11,
]);

// The compiled kernel, with SIMD where the browser has it.
export async function loadKernel(base) {
  if (typeof WebAssembly !== "object") throw new Error("This browser has no WebAssembly.");
  const simd = WebAssembly.validate(SIMD_PROBE);
  const answer = await fetch(new URL(simd ? "kernel.wasm" : "kernel-plain.wasm", base));
  if (!answer.ok) throw new Error(`The kernel could not be loaded (${answer.status}).`);
  const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), {});
  return { kernel: instance.exports, simd };
}

// A run in training. `data` and `weights` may come from elsewhere, such as an export of grokkit.
export class Run {
  constructor(kernel, settings, data = makeData(settings), weights = makeWeights(data, settings.seed)) {
    this.kernel = kernel;
    this.data = data;
    this.epoch = 0;
    const { p, train, test } = data;
    const places = new Set();
    for (const { tokens } of [...train, ...test]) tokens.forEach((token, j) => places.add(j * 1000 + token));
    const slots = [...places].sort((a, b) => a - b); // the query, at the last position, comes last
    const number = new Map(slots.map((place, i) => [place, i]));
    kernel.begin(p, data.vocabulary, slots.length, train.length, test.length, data.mirrored);
    this.classes = kernel.padded_classes();
    this.put(kernel.slot_tokens_at(), slots.map((place) => place % 1000));
    this.put(kernel.slot_positions_at(), slots.map((place) => Math.floor(place / 1000)));
    const rows = (set) => set.flatMap(({ tokens }) => tokens.map((token, j) => number.get(j * 1000 + token)));
    this.put(kernel.train_slots_at(), rows(train));
    this.put(kernel.test_slots_at(), rows(test));
    this.put(kernel.train_classes_at(), train.map(({ target }) => target));
    this.put(kernel.test_classes_at(), test.map(({ target }) => target));
    this.weights = new Float32Array(kernel.memory.buffer, kernel.weights_at(), kernel.parameters());
    this.stats = new Float32Array(kernel.memory.buffer, kernel.stats_at(), 12);
    let at = 0;
    for (const name of WEIGHTS) {
      const wide = name === "W_2" || name === "b_2", columns = wide ? p : weights[name].length;
      for (let first = 0; first < weights[name].length; first += columns) {
        this.weights.set(Array.from(weights[name].slice(first, first + columns)), at);
        at += wide ? this.classes : columns;
      }
    }
    this.change(settings);
  }

  put(address, numbers) {
    new Int32Array(this.kernel.memory.buffer, address, numbers.length).set(numbers);
  }

  // Settings that may change while the run goes on.
  change({ rate, decay, kl }) {
    this.kernel.set(rate, decay, kl);
    this.fresh = false;
  }

  // The gradient of the last look is still that of these weights: the first step takes it.
  train(epochs) {
    if (epochs > 0 && this.fresh) this.kernel.update();
    this.kernel.train(epochs - (this.fresh ? 1 : 0));
    this.epoch += epochs;
    this.fresh = false;
  }

  // How the run stands at these weights.
  look() {
    const { kernel, stats } = this;
    kernel.differentiate();
    this.fresh = true;
    const [trainLoss, trainAccuracy, kl, ...rest] = stats;
    const attention = rest.slice(0, T), scoreGradient = rest[5];
    kernel.test();
    const [testLoss, testAccuracy] = stats;
    const unmirrored = this.data.mirrored > 0 ? stats[9] : testAccuracy;
    return { epoch: this.epoch, trainLoss, trainAccuracy, testLoss, testAccuracy, unmirrored, kl, attention, scoreGradient };
  }

  // The embeddings of the numbers, [p, D].
  embeddings() {
    return this.weights.slice(0, this.data.p * D);
  }
}
