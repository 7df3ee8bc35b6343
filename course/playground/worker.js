// Trains a run beside the page: takes orders, sends what it sees.
import { Run, loadKernel } from "./run.js";

const SLICE = 25;    // milliseconds of training between two looks at the orders
const EVERY = 10;    // epochs between two records
const REPORT = 80;   // milliseconds between two messages

// What the page and the worker have in common, so that a page without workers can do it itself.
export function trainer(send, base) {
  let ready = null, run = null, going = false, records = [], last = 0, turn = 0, loop = 0;

  function record() {
    const seen = run.look();
    records.push(seen);
    return seen;
  }

  function report(force) {
    const now = performance.now();
    if (!records.length || (!force && now - last < REPORT)) return;
    last = now;
    send({ type: "records", turn, records, embeddings: run.embeddings(), going });
    records = [];
  }

  // `mine`: which "go" this loop belongs to; an older one ends, so that two never train at once.
  function slice(mine) {
    if (!going || mine !== loop) return;
    const until = performance.now() + SLICE;
    while (performance.now() < until) {
      run.train(EVERY - (run.epoch % EVERY));
      record();
    }
    report(false);
    setTimeout(slice, 0, mine);
  }

  return async function order({ type, settings, epochs, data, weights, turn: named = 0 }) {
    try {
      ready ??= loadKernel(base);
      const { kernel, simd } = await ready;
      if (type === "start") {
        going = false;
        records = [];
        turn = named;
        run = new Run(kernel, settings, data, weights);
        send({ type: "started", turn, simd, sizes: { train: run.data.train.length, test: run.data.test.length } });
        record();
        report(true);
      } else if (!run) {
        return;
      } else if (type === "go" && !going) {
        going = true;
        slice(++loop);
      } else if (type === "pause") {
        going = false;
        report(true);
        send({ type: "paused" });
      } else if (type === "step") {
        run.train(epochs);
        record();
        report(true);
      } else if (type === "change") {
        run.change(settings);
        send({ type: "changed", turn, epoch: run.epoch, settings });
      }
    } catch (problem) {
      send({ type: "failed", why: String(problem.message ?? problem) });
    }
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) {
  const order = trainer((message) => self.postMessage(message), self.location.href);
  let chain = Promise.resolve();
  self.onmessage = ({ data }) => (chain = chain.then(() => order(data)));
}
