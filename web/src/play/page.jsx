/** The page on which one plays. */

import { useStore } from "../store.js";
import { change } from "../settings.js";
import { Tabs } from "../parts/tabs.jsx";
import { Actions } from "./actions.jsx";
import { Board } from "./board.jsx";
import { Candidates } from "./candidates.jsx";
import { Graph } from "./graph.jsx";
import { Moves } from "./moves.jsx";
import { Players } from "./players.jsx";
import { Review } from "./review.jsx";
import { Scoring } from "./scoring.jsx";
import { Status } from "./status.jsx";
import { Switches } from "./switches.jsx";
import { Why } from "./why.jsx";

const TABS = [
  { id: "moves", name: "Moves", body: Moves },
  { id: "candidates", name: "Candidates", body: Candidates },
  { id: "why", name: "Why", body: Why },
  { id: "review", name: "Review", body: Review },
];

export function PlayPage() {
  const { tab, scoring } = useStore(({ settings, scoring }) => ({ tab: settings.tab, scoring: !!scoring }));
  return (
    <div class="play">
      <Board />
      <div class="side">
        <Players />
        <Status />
        {scoring && <Scoring />}
        <Actions />
        <Switches />
        <Graph />
        <Tabs label="About this game" tabs={TABS} selected={tab} onSelect={(id) => change({ tab: id })} />
      </div>
    </div>
  );
}
