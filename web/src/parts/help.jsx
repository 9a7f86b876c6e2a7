import { Dialog } from "./dialog.jsx";

const KEYS = [
  ["← →", "one move back, forward"],
  [", .", "the same, also while the board has the focus"],
  ["↑ ↓", "the variation before, after"],
  ["Home End", "the first, the last move"],
  ["P", "pass"],
  ["U", "undo"],
  ["H", "hint"],
  ["A", "analysis on or off"],
  ["N", "new game"],
  ["Tab", "to the board; there the arrows move a cursor and Enter plays"],
];

export function Help() {
  return (
    <Dialog name="help" title="Keys and help">
      <table class="keys">
        <tbody>
          {KEYS.map(([key, what]) => (
            <tr key={key}>
              <th scope="row">
                {key.split(" ").map((one) => (
                  <kbd key={one}>{one}</kbd>
                ))}
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        A move from an earlier position makes a variation; the moves that were there stay. Records (SGF) can be dropped
        anywhere on the page. The game is kept in this browser and survives a reload.
      </p>
      <p>
        <a href="./licences.txt">Licences of what this page is made of</a>
      </p>
    </Dialog>
  );
}
