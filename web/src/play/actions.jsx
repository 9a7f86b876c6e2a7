/** The buttons. */

import { useEffect, useRef, useState } from "preact/hooks";
import { hint } from "../game/analysis.js";
import { go, pass, resign, step, undo } from "../game/play.js";
import { openFile, saveFile } from "../game/records.js";
import { isEnded, ROOT } from "../game/tree.js";
import { Icon } from "../parts/icon.jsx";
import { set, useStore } from "../store.js";

const ALONG = [
  ["first", "First move (Home)", () => go(ROOT)],
  ["back", "One move back (←)", () => step(-1)],
  ["next", "One move forward (→)", () => step(1)],
];

export function Actions() {
  const { end, atStart, atEnd, ended, over, thinking } = useStore(({ game, positions, thinking }) => ({
    end: game.end,
    atStart: game.at === ROOT,
    atEnd: game.at === game.end,
    ended: isEnded(game),
    over: !!positions[game.at]?.over,
    thinking: !!thinking,
  }));
  return (
    <div class="actions" role="group" aria-label="Game">
      <button onClick={pass} disabled={over || thinking} title="P">Pass</button>
      <button onClick={undo} title="U">Undo</button>
      <button onClick={hint} disabled={over || thinking} title="H">Hint</button>
      <Resign disabled={ended} />
      <span class="along">
        {ALONG.map(([icon, label, act]) => (
          <button key={icon} onClick={act} disabled={icon === "next" ? atEnd : atStart} aria-label={label} title={label}>
            <Icon name={icon} />
          </button>
        ))}
        <button onClick={() => go(end)} disabled={atEnd} aria-label="Last move (End)" title="Last move (End)">
          <Icon name="last" />
        </button>
      </span>
      <button class="main" onClick={() => set({ dialog: "new", newGame: {} })} title="N">New game</button>
      <OpenRecord />
      <button onClick={saveFile}>Save SGF</button>
    </div>
  );
}

/** Asks back, since it stands beside buttons one presses often. */
function Resign({ disabled }) {
  const [sure, setSure] = useState(false);
  useEffect(() => {
    if (!sure) return undefined;
    const timer = setTimeout(() => setSure(false), 3000);
    return () => clearTimeout(timer);
  }, [sure]);
  const press = () => {
    if (sure) resign();
    setSure(!sure);
  };
  return (
    <button class={sure ? "danger" : ""} onClick={press} disabled={disabled}>
      {sure ? "Really resign?" : "Resign"}
    </button>
  );
}

function OpenRecord() {
  const input = useRef();
  const choose = () => {
    const file = input.current.files[0];
    input.current.value = ""; // the same file again is another choice
    if (file) openFile(file);
  };
  return (
    <>
      <button onClick={() => input.current.click()}>Open SGF</button>
      <input ref={input} type="file" accept=".sgf,.txt,application/x-go-sgf" onChange={choose} hidden aria-label="Record" />
    </>
  );
}
