/** The dialog before a game. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { startGame, usualChoices, usualKomi } from "../game/start.js";
import { closeDialog, Dialog } from "../parts/dialog.jsx";
import { get, useStore } from "../store.js";

const SIZES = [9, 13, 19];
const COLORS = [["B", "Black"], ["W", "White"], ["random", "Random"], ["both", "Both sides"]];

export function NewGame() {
  const { info, run } = useStore(({ info, run }) => ({ info, run }));
  const [choices, setChoices] = useState(() => ({ ...usualChoices(), ...get().newGame }));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    // a dialog that was opened before the server had said what it has
    const { level, model } = usualChoices();
    setChoices((before) => ({ ...before, level: before.level ?? level, model: before.model ?? model }));
  }, [info]);
  const change = (patch) => setChoices((before) => withKomi({ ...before, ...patch }, patch));
  const names = Object.fromEntries((run?.checkpoints ?? []).map((one) => [one.model, `iteration ${one.iteration}`]));
  const models = withChosen(info?.models ?? [], choices.model, names);
  const start = async (event) => {
    event.preventDefault();
    try {
      await startGame(choices, names);
      closeDialog("new");
    } catch (error) {
      setProblem(error.message);
    }
  };
  const computer = choices.color !== "both";
  return (
    <Dialog name="new" title="New game">
      <form class="form" onSubmit={start}>
        <Radios label="Your colour" name="color" options={COLORS} value={choices.color} onChange={(color) => change({ color })} />
        <Size size={choices.size} onChange={(size) => change({ size })} />
        {computer && <Opponent choices={choices} change={change} levels={info?.levels ?? []} models={models} />}
        <div class="pair">
          <label>
            Rules
            <select value={choices.rules} onChange={(event) => change({ rules: event.target.value })}>
              {(info?.rules ?? []).map(({ id, name }) => (
                <option key={id} value={id}>{name}</option>
              ))}
            </select>
          </label>
          <NumberField label="Komi" value={choices.komi} min={-100} max={100} step={0.5} onChange={(komi) => change({ komi })} />
          <Handicap value={choices.handicap} onChange={(handicap) => change({ handicap })} />
          <NumberField label="Minutes each, 0 for no limit" value={choices.minutes} min={0} max={600} step={1} onChange={(minutes) => change({ minutes })} />
        </div>
        {problem && <p role="alert" class="problem">{problem}</p>}
        <p class="buttons">
          <button class="main" type="submit" data-first>Start</button>
          <button type="button" onClick={() => closeDialog("new")}>Cancel</button>
        </p>
      </form>
    </Dialog>
  );
}

/** Komi follows size, rules and handicap, until somebody writes another. */
const withKomi = (choices, patch) =>
  "size" in patch || "rules" in patch || "handicap" in patch
    ? { ...choices, komi: usualKomi(choices.size, choices.rules, choices.handicap) }
    : choices;

/** The networks to choose from; a checkpoint of the run is among them once somebody wants to play it. */
const withChosen = (models, chosen, names) =>
  !chosen || models.some(({ id }) => id === chosen)
    ? models
    : [...models, { id: chosen, name: names[chosen] ?? chosen, trained: true, sizes: [] }];

function Radios({ label, name, options, value, onChange }) {
  return (
    <fieldset class="radios">
      <legend>{label}</legend>
      {options.map(([id, text]) => (
        <label key={id}>
          <input type="radio" name={name} checked={value === id} onChange={() => onChange(id)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Size({ size, onChange }) {
  const [own, setOwn] = useState(!SIZES.includes(size));
  const options = [...SIZES.map((n) => [n, `${n}×${n}`]), ["own", "Other"]];
  const choose = (id) => {
    setOwn(id === "own");
    if (id !== "own") onChange(id);
  };
  return (
    <div class="size">
      <Radios label="Board" name="size" options={options} value={own ? "own" : size} onChange={choose} />
      {own && <NumberField label="5 to 19" value={size} min={5} max={19} step={1} onChange={onChange} />}
    </div>
  );
}

function Opponent({ choices, change, levels, models }) {
  const level = levels.find(({ id }) => id === choices.level);
  const model = models.find(({ id }) => id === choices.model);
  const strange = model?.sizes.length > 0 && !model.sizes.includes(choices.size);
  return (
    <>
      <div class="pair">
        <label>
          Level
          <select value={choices.level} onChange={(event) => change({ level: event.target.value })}>
            {levels.map(({ id, name }) => (
              <option key={id} value={id}>{name}</option>
            ))}
            <option value="visits">By visits</option>
          </select>
        </label>
        {choices.level === "visits" && (
          <NumberField label="Visits a move" value={choices.visits} min={1} max={100000} step={1} onChange={(visits) => change({ visits })} />
        )}
        <label>
          Network
          <select value={choices.model} onChange={(event) => change({ model: event.target.value })}>
            {models.map(({ id, name, trained }) => (
              <option key={id} value={id}>{trained ? name : `${name} (untrained)`}</option>
            ))}
          </select>
        </label>
      </div>
      {level?.about && <p class="about">{level.about}</p>}
      {strange && (
        <p class="about">
          {`This network has learned on ${model.sizes.map((n) => `${n}×${n}`).join(", ")}; on another board it knows less.`}
        </p>
      )}
    </>
  );
}

function Handicap({ value, onChange }) {
  return (
    <label>
      Handicap
      <select value={value} onChange={(event) => onChange(Number(event.target.value))}>
        {[0, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => (
          <option key={n} value={n}>{n ? `${n} stones` : "none"}</option>
        ))}
      </select>
    </label>
  );
}

/** What is being written ("6.") is the browser's: only another number from elsewhere takes its place. */
function NumberField({ label, value, onChange, ...limits }) {
  const input = useRef();
  useLayoutEffect(() => {
    if (input.current.valueAsNumber !== value) input.current.value = value;
  }, [value]);
  const read = (event) => {
    const number = event.target.valueAsNumber;
    if (Number.isFinite(number)) onChange(number); // what is no number, the form does not let through
  };
  return (
    <label>
      {label}
      <input ref={input} type="number" required onInput={read} {...limits} />
    </label>
  );
}
