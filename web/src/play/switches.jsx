/** What of the network's thoughts is shown. */

import { analyze, switchAnalysis } from "../game/analysis.js";
import { change } from "../settings.js";
import { useStore } from "../store.js";

const VISITS = [50, 100, 400, 1600, 6400];

export function Switches() {
  const settings = useStore((state) => state.settings);
  const setVisits = (event) => {
    change({ analysisVisits: Number(event.target.value) });
    analyze();
  };
  const layer = (name, label) => (
    <Switch
      label={label}
      on={settings[name]}
      disabled={!settings.analysis}
      onChange={() => change({ [name]: !settings[name] })}
    />
  );
  return (
    <div class="switches" role="group" aria-label="Analysis">
      <div>
        <Switch label="Analysis" on={settings.analysis} onChange={() => switchAnalysis()} />
        <label class="visits">
          <span class="unseen">Visits of the analysis</span>
          <select value={settings.analysisVisits} onChange={setVisits} disabled={!settings.analysis}>
            {VISITS.map((n) => (
              <option key={n} value={n}>{`${n} visits`}</option>
            ))}
          </select>
        </label>
      </div>
      <div>
        {layer("candidates", "Moves")}
        {layer("policy", "Policy")}
        {layer("ownership", "Territory")}
      </div>
    </div>
  );
}

function Switch({ label, on, disabled = false, onChange }) {
  return (
    <label class={`switch ${disabled ? "off" : ""}`}>
      <input type="checkbox" role="switch" checked={on} disabled={disabled} onChange={onChange} />
      <span class="track" aria-hidden="true" />
      {label}
    </label>
  );
}
