import "@sabaki/shudan/css/goban.css";
import "./styles/base.css";
import "./styles/board.css";
import "./styles/panels.css";
import "./styles/run.css";

import { render } from "preact";
import { App } from "./app.jsx";
import { startClock } from "./game/clock.js";
import { keptGame, startKeeping } from "./game/keep.js";
import { refresh } from "./game/play.js";
import { adoptNetwork, firstGame, isUntouched } from "./game/start.js";
import { startKeys } from "./keys.js";
import { startRouting } from "./route.js";
import { loadSettings } from "./settings.js";
import { connect, withToken } from "./socket.js";
import { get, set } from "./store.js";
import { watchRun } from "./run/watch.js";

const POLL = 1500; // ms between questions whether the engine is ready

/** Ask what the server has, again and again until it is ready to play. */
async function askInfo() {
  try {
    const answer = await fetch(withToken("/api/info"));
    if (!answer.ok) return set({ refused: (await answer.json()).message });
    const info = await answer.json();
    set({ info, refused: null });
    const { game } = get();
    if (isUntouched(game)) set({ game: firstGame(), positions: {}, pending: null });
    else set({ game: adoptNetwork(game, info) });
    if (!info.ready) setTimeout(askInfo, POLL);
  } catch {
    // the WebSocket says that the server is away; when it is back, this is asked again
  }
}

loadSettings();
set({ game: keptGame() ?? firstGame() });
startRouting();
render(<App />, document.getElementById("app"));
startKeeping();
startKeys();
startClock();
connect({
  async opened() {
    await askInfo(); // each time: another server may have other networks
    refresh({ resume: true });
    watchRun();
  },
  failed: askInfo, // which says why, if it was refused
});
