/** A window over the page; the browser keeps the focus in it, and Escape closes it. */

import { useEffect, useRef } from "preact/hooks";
import { set } from "../store.js";
import { Icon } from "./icon.jsx";

export const closeDialog = () => set({ dialog: null });

export function Dialog({ title, children }) {
  const element = useRef();
  useEffect(() => {
    element.current.showModal();
    element.current.querySelector("[data-first]")?.focus(); // what one most likely wants, not the cross
  }, []);
  return (
    <dialog ref={element} onClose={closeDialog} aria-labelledby="dialog-title">
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button class="quiet" onClick={closeDialog} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}
