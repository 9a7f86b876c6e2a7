/** The training run, as the server tells it while its page is open. */

import { Lost, request } from "../socket.js";
import { get, set } from "../store.js";
import { tell } from "../tell.js";

let watching = null;

/** Watch while the page of the run is shown and there is a connection; stop when it is not. */
export function watchRun() {
  const wanted = get().route === "run" && get().connection === "open" && get().info?.run;
  if (!wanted) {
    watching?.stop();
    watching = null;
    return;
  }
  if (watching) return;
  const asked = request("watch", {}, note);
  watching = asked;
  asked.answer
    .catch((error) => error instanceof Lost || tell(error.message))
    .finally(() => {
      if (watching === asked) watching = null;
    });
}

/** Metrics come once; everything else comes whole. */
function note({ id, type, reset, metrics = [], ...rest }) {
  const { run } = get();
  const before = reset || !run ? [] : run.metrics;
  set({ run: { ...rest, metrics: metrics.length || reset ? [...before, ...metrics] : before } });
}
