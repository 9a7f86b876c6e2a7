/** The page of a training run. */

import { useStore } from "../store.js";
import * as words from "../words.js";
import { Elo } from "./elo.jsx";
import { Games } from "./games.jsx";
import { Plot } from "./plot.jsx";
import { Workers } from "./workers.jsx";

const LOSSES = [
  { name: "total", key: "total_loss" },
  { name: "policy", key: "policy_loss" },
  { name: "value", key: "value_loss" },
  { name: "score", key: "score_loss" },
  { name: "territory", key: "ownership_loss" },
];

const MOST_POINTS = 400; // of a curve; more cannot be told apart

/** Every so manyth line, and the last. */
function thin(lines) {
  const step = Math.ceil(lines.length / MOST_POINTS);
  return step <= 1 ? lines : lines.filter((_, i) => (lines.length - 1 - i) % step === 0);
}

export function RunPage() {
  const { run, info } = useStore(({ run, info }) => ({ run, info }));
  if (info && !info.run) {
    return (
      <p class="empty">
        There is no run to watch: start with <code>mini-alphago play --run DIR</code>.
      </p>
    );
  }
  if (!run) return <p class="empty">Reading the run…</p>;
  const { checkpoints, live } = run;
  const metrics = thin(run.metrics);
  const elo = run.elo.filter(({ minutes }) => minutes !== null);
  return (
    <div class="run">
      <Progress run={run} />
      <Workers run={run} />
      <Games live={live} running={run.running} />
      {metrics.length === 0 && <p class="card empty">The first iteration is not finished yet; curves come with it.</p>}
      <div class="plots">
        <Elo elo={elo} checkpoints={checkpoints} />
        <Plot title="Losses" metrics={metrics} series={LOSSES} />
        <Plot title="Self-play, positions a second" metrics={metrics} series={[{ name: "positions", key: "positions_per_second" }]} digits={0} />
        <Plot title="Learning, samples a second" metrics={metrics} series={[{ name: "samples", key: "samples_per_second" }]} digits={0} />
        <Plot title="Entropy of the policy" metrics={metrics} series={[{ name: "network", key: "policy_entropy" }, { name: "search", key: "target_entropy" }]} />
        <Plot title="Length of games" metrics={metrics} series={[{ name: "moves", key: "game_length" }]} digits={0} />
        <Plot title="Staleness of games" metrics={metrics} series={[{ name: "iterations behind", key: "staleness" }]} />
      </div>
      <Checkpoints checkpoints={checkpoints} elo={elo} />
    </div>
  );
}

function Progress({ run }) {
  const { name, running, summary, metrics, live } = run;
  const last = metrics.at(-1);
  return (
    <section class="card progress" aria-label="Progress">
      <h2>
        {name} <span class={`badge ${running ? "on" : ""}`}>{running ? "training now" : "not training"}</span>
      </h2>
      {typeof summary === "string" && <p>{summary}</p>}
      {last && (
        <dl>
          <Fact name="iterations">{last.iteration}</Fact>
          <Fact name="minutes">{Math.round(last.minutes)}</Fact>
          <Fact name="games">{words.count(last.games)}</Fact>
          <Fact name="positions">{words.count(last.positions)}</Fact>
          <Fact name="evaluations a second">{words.count(last.evals_per_second)}</Fact>
        </dl>
      )}
      {running && live && (
        <p class="line begin">
          <span>{live.phase}</span>
          <progress value={live.done} max={live.total || 1} aria-label={live.phase} />
          <span>
            {words.count(live.done)} of {words.count(live.total)}
            {live.speed ? `, ${words.count(live.speed)} evaluations a second` : ""}
          </span>
        </p>
      )}
    </section>
  );
}

const Fact = ({ name, children }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Checkpoints({ checkpoints, elo }) {
  if (!checkpoints.length) return null;
  const ratings = new Map(elo.map((one) => [one.iteration, one]));
  return (
    <section class="card" aria-label="Checkpoints">
      <h2>Play against a checkpoint</h2>
      <ul class="checkpoints">
        {checkpoints.map(({ iteration, minutes, model }) => (
          <li key={iteration}>
            <a href={`#/new/${encodeURIComponent(model)}`}>
              <b>{`Iteration ${iteration}`}</b>
              <small>
                {minutes === null || minutes === undefined ? "" : `${Math.round(minutes)} min`}
                {ratings.has(iteration) ? ` · Elo ${Math.round(ratings.get(iteration).elo)}` : ""}
              </small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
