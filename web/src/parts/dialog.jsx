/** A window over the page; the browser keeps the focus in it, and Escape closes it. */

import { useEffect, useRef } from "preact/hooks";
import { get, set } from "../store.js";
import { Icon } from "./icon.jsx";

/** Closes that dialog; another, opened since, stays: the browser tells of a closed one only later. */
export const closeDialog = (name) => get().dialog === name && set({ dialog: null });

export function Dialog({ name, title, children }) {
  const element = useRef();
  const close = () => closeDialog(name);
  useEffect(() => {
    element.current.showModal();
    element.current.querySelector("[data-first]")?.focus(); // what one most likely wants, not the cross
  }, []);
  return (
    <dialog ref={element} onClose={close} aria-labelledby="dialog-title">
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button class="quiet" onClick={close} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  );
}
