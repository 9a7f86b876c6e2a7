/** A few line drawings, so that no font and no picture has to be loaded. */

const PATHS = {
  help: "M9 9a3 3 0 1 1 4 2.8c-.7.3-1 .9-1 1.7v.5M12 17.2v.3",
  sun: "M12 8a4 4 0 1 0 0 8a4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5",
  first: "M6 5v14M19 5l-9 7l9 7",
  back: "M15 5l-8 7l8 7",
  next: "M9 5l8 7l-8 7",
  last: "M18 5v14M5 5l9 7l-9 7",
  close: "M6 6l12 12M18 6L6 18",
};

export function Icon({ name }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
      {name === "help" && <circle cx="12" cy="12" r="9.5" />}
    </svg>
  );
}
