/** The frame of the page. */

import { Announcer, Banner, Toast } from "./parts/messages.jsx";
import { DropTarget } from "./parts/drop.jsx";
import { Help } from "./parts/help.jsx";
import { Icon } from "./parts/icon.jsx";
import { NewGame } from "./play/new-game.jsx";
import { PlayPage } from "./play/page.jsx";
import { RunPage } from "./run/page.jsx";
import { change, isDark } from "./settings.js";
import { set, useStore } from "./store.js";

export function App() {
  const { route, dialog } = useStore(({ route, dialog }) => ({ route, dialog }));
  return (
    <>
      <TopBar />
      <Banner />
      <main>{route === "run" ? <RunPage /> : <PlayPage />}</main>
      {dialog === "new" && <NewGame />}
      {dialog === "help" && <Help />}
      <DropTarget />
      <Toast />
      <Announcer />
    </>
  );
}

function TopBar() {
  const { route, hasRun } = useStore(({ route, info }) => ({ route, hasRun: !!info?.run }));
  useStore((state) => state.settings); // the theme may be the system's, so its name alone does not tell
  const dark = isDark();
  const current = (name) => (route === name ? "page" : undefined);
  return (
    <header class="topbar">
      <h1>mini-alphago</h1>
      {hasRun && (
        <nav aria-label="Pages">
          <a href="#/" aria-current={current("play")}>Play</a>
          <a href="#/run" aria-current={current("run")}>Training</a>
        </nav>
      )}
      <span class="spring" />
      <button class="quiet" onClick={() => set({ dialog: "help" })} aria-label="Keys and help" title="Keys and help (?)">
        <Icon name="help" />
      </button>
      <button
        class="quiet"
        onClick={() => change({ theme: dark ? "light" : "dark" })}
        aria-label={dark ? "Light page" : "Dark page"}
        title={dark ? "Light page" : "Dark page"}
      >
        <Icon name={dark ? "sun" : "moon"} />
      </button>
    </header>
  );
}
