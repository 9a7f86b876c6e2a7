/** Records dropped anywhere on the page. */

import { useEffect, useState } from "preact/hooks";
import { openFile } from "../game/records.js";

export function DropTarget() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const drag = (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event) => event.relatedTarget === null && setOver(false);
    const drop = (event) => {
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (!file) return;
      event.preventDefault();
      openFile(file);
    };
    const pairs = [["dragover", drag], ["dragleave", leave], ["drop", drop]];
    for (const [name, handler] of pairs) addEventListener(name, handler);
    return () => pairs.forEach(([name, handler]) => removeEventListener(name, handler));
  }, []);
  return over && <div class="drop">Drop the record here</div>;
}
