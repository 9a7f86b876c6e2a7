/** The part of the address behind #: `#/` is the game, `#/run` the training run, `#/new/MODEL` a game against it. */

import { set } from "./store.js";
import { watchRun } from "./run/watch.js";

function follow() {
  const [, page, model] = location.hash.split("/");
  if (page === "new") {
    set({ route: "play", dialog: "new", newGame: { model: decodeURIComponent(model ?? "") } });
    history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  } else {
    set({ route: page === "run" ? "run" : "play", dialog: null });
  }
  watchRun();
}

export function startRouting() {
  addEventListener("hashchange", follow);
  follow();
}
