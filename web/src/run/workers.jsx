/** Who plays for a run that trains on a cluster, and how fast. */

import * as words from "../words.js";

const SILENT = 30; // seconds without a word, after which a worker may be gone

const isSilent = ({ seconds }) => seconds > SILENT;
const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const text = (value) => String(value ?? "–");
const inOrder = new Intl.Collator("en", { numeric: true });

/** Those of this moment if the run tells them, or else those of its last iteration; null if it has none elsewhere. */
function workersOf({ live, workers }) {
  const found = live?.workers ?? workers;
  if (!Array.isArray(found)) return null;
  const known = found.filter((one) => one && typeof one === "object");
  return known.sort((a, b) => inOrder.compare(text(a.node), text(b.node)) || inOrder.compare(text(a.worker), text(b.worker)));
}

export function Workers({ run }) {
  const workers = workersOf(run);
  if (!workers) return null;
  // A network may reach the workers before the line of its iteration is written.
  const known = workers.map(({ version }) => version).filter(Number.isFinite);
  const newest = Math.max(run.metrics.at(-1)?.iteration ?? 0, ...known);
  return (
    <section class="card" aria-label="Workers">
      <h2>{run.running ? "Workers" : "The last workers"}</h2>
      {workers.length === 0 ? (
        <p class="empty">{run.running ? "None is there now." : "There was none."}</p>
      ) : (
        <div class="wide" tabIndex={0} role="group" aria-label="Table of workers">
          <table class="numbers workers">
            <thead>
              <tr>
                {["Node", "Worker", "Device", "Network", "Games", "Positions/s", "Evals/s"].map((name) => (
                  <th key={name} scope="col">{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {workers.map((one, i) => (
                <Worker key={i} one={one} newest={newest} />
              ))}
            </tbody>
            <Total workers={workers} />
          </table>
        </div>
      )}
    </section>
  );
}

function Worker({ one, newest }) {
  const behind = newest - one.version;
  return (
    <tr class={isSilent(one) ? "silent" : ""}>
      <th scope="row">
        {text(one.node)} {isSilent(one) && <small>(silent for {Math.round(one.seconds)} s)</small>}
      </th>
      <td>{text(one.worker)}</td>
      <td>{text(one.device)}</td>
      <td>
        {text(one.version)} {Number.isFinite(one.version) && behind > 0 && <small>({behind} behind)</small>}
      </td>
      <td>{words.count(one.games)}</td>
      <td>{words.count(one.positions_per_second)}</td>
      <td>{words.count(one.evals_per_second)}</td>
    </tr>
  );
}

/** Games stay made, but nobody knows what the silent make now: their speed does not count. */
function Total({ workers }) {
  const heard = workers.filter((one) => !isSilent(one));
  const silent = workers.length - heard.length;
  const nodes = new Set(workers.map(({ node }) => text(node))).size;
  const sum = (from, key) => words.count(from.reduce((all, one) => all + (Number.isFinite(one[key]) ? one[key] : 0), 0));
  return (
    <tfoot>
      <tr>
        <th scope="row" colSpan={4}>
          Total: {many(workers.length, "worker")} on {many(nodes, "node")}
          {silent > 0 && `, ${silent} silent`}
        </th>
        <td>{sum(workers, "games")}</td>
        <td>{sum(heard, "positions_per_second")}</td>
        <td>{sum(heard, "evals_per_second")}</td>
      </tr>
    </tfoot>
  );
}
