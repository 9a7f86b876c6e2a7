/** Words to the person: what state things are in, what just happened. */

import { useEffect, useState } from "preact/hooks";
import { retryNow } from "../socket.js";
import { useStore } from "../store.js";
import { hush } from "../tell.js";
import { Icon } from "./icon.jsx";

/** What one should know before anything else: no server, an engine that is not ready, a network that knows nothing. */
export function Banner() {
  const { info, connection, retryAt, refused } = useStore(({ info, connection, retryAt, refused }) => ({
    info, connection, retryAt, refused,
  }));
  return (
    <div role="status" class="banners">
      {refused && <p class="banner warning">{refused}</p>}
      {!refused && connection !== "open" && retryAt > 0 && <Reconnecting at={connection === "lost" ? retryAt : 0} />}
      {connection === "open" && !info?.ready && (
        <p class="banner later">
          <span class="spinner" aria-hidden="true" />
          <span>The engine is warming up. {info?.message}</span>
        </p>
      )}
      {info?.ready && info.message && <p class="banner">{withCode(info.message)}</p>}
    </div>
  );
}

/** Commands stand between backquotes. */
const withCode = (text) => <span>{text.split("`").map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</span>;

function Reconnecting({ at }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((at - now) / 1000));
  return (
    <p class="banner warning">
      No connection to the server. Your game is kept here. {at ? `Trying again in ${seconds} s.` : "Trying…"}
      <button onClick={retryNow}>Try now</button>
    </p>
  );
}

export function Toast() {
  const toast = useStore((state) => state.toast);
  if (!toast) return null;
  const { text, action } = toast;
  const act = () => {
    hush();
    action.run();
  };
  return (
    <div class="toast" role="status">
      <span>{text}</span>
      {action && <button onClick={act}>{action.label}</button>}
      <button class="quiet" onClick={hush} aria-label="Close this message">
        <Icon name="close" />
      </button>
    </div>
  );
}

export function Announcer() {
  const text = useStore((state) => state.announcement);
  return (
    <div class="unseen" aria-live="polite" data-testid="announcer">
      {text}
    </div>
  );
}
