/** The board: Shudan's, with a layer of our own above it, and a cursor for the keyboard. */

import { Goban } from "@sabaki/shudan";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { colorName, emptyBoard, sign, toPoint, toVertex } from "../coords.js";
import { play } from "../game/play.js";
import { toggleChain } from "../game/scoring.js";
import { turn } from "../game/tree.js";
import { useStore } from "../store.js";
import { announce, tell } from "../tell.js";
import { Layer } from "./layer.jsx";

const GUTTER = 0.7; // room for coordinates, in points
const BORDER = 0.15; // Shudan's
const FRAME = 2 * (GUTTER + BORDER);
const GRID = `${GUTTER}em 1fr ${GUTTER}em`;
const EASY_TO_HIT = 26; // px; smaller points want a second tap

/** The size of a point so that the board fits into its place. */
function useVertexSize(place, size) {
  const [vertexSize, setVertexSize] = useState(0);
  useEffect(() => {
    const measure = () => {
      const room = place.current.getBoundingClientRect();
      const height = innerWidth > 900 ? innerHeight - room.top - scrollY - 16 : Infinity;
      setVertexSize(Math.max(12, Math.floor(Math.min(room.width, Math.max(height, 280)) / (size + FRAME))));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(place.current);
    observer.observe(document.querySelector(".banners")); // what is above moves the board down
    addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      removeEventListener("resize", measure);
    };
  }, [size]);
  return vertexSize;
}

export function Board() {
  const shown = useStore(({ game, positions, scoring, thinking, pending }) => ({
    key: game.key,
    size: game.setup.size,
    position: positions[game.at],
    toMove: positions[game.at]?.toMove ?? turn(game, game.at),
    move: game.nodes[game.at].move,
    scoring,
    thinking: !!thinking,
    pending,
  }));
  const { size, position, toMove, scoring, thinking, pending } = shown;
  const place = useRef();
  const vertexSize = useVertexSize(place, size);
  const [hover, setHover] = useState(null); // a vertex under the pointer
  const { cursor, keys, focus } = useCursor(size, position, act);
  const touched = useRef(false);

  function act(vertex) {
    const [x, y] = toPoint(vertex, size);
    const stone = position?.board[y][x];
    if (scoring) stone ? toggleChain(vertex) : tell("Click on stones to say whether they are dead or alive.");
    else if (stone) tell("There is a stone already.");
    else play(vertex);
  }

  function click(event, [x, y]) {
    const vertex = toVertex(x, y, size);
    // On a small board a finger covers several points: the first tap shows the stone, the second plays it.
    if (touched.current && vertexSize < EASY_TO_HIT && hover !== vertex && !scoring && !position?.board[y][x]) {
      setHover(vertex);
      return tell(`Tap ${vertex} again to play there.`);
    }
    setHover(null);
    act(vertex);
  }

  // Until the server has said what the board looks like here, the one before stays; a flash of nothing would be worse.
  const last = useRef();
  if (position) last.current = shown;
  const drawn = !position && last.current?.key === shown.key ? last.current : shown;
  const maps = useMemo(() => shudanMaps(drawn), Object.values(drawn));
  const enter = (event, [x, y]) => event.pointerType === "mouse" && setHover(toVertex(x, y, size));
  return (
    <div class="board-place" ref={place}>
      <div
        class={`board ${thinking ? "thinking" : ""}`}
        style={{ fontSize: `${vertexSize}px` }}
        tabIndex={0}
        role="application"
        aria-roledescription="Go board"
        aria-label={`Board, ${size} by ${size}. Arrows move the cursor, Enter plays.`}
        onKeyDown={keys}
        onFocus={focus.in}
        onBlur={focus.out}
        onMouseDown={leaveFields}
        onPointerDown={(event) => (touched.current = event.pointerType === "touch")}
        onPointerLeave={(event) => event.pointerType === "mouse" && setHover(null)}
      >
        {vertexSize > 0 && (
          <Goban
            style={{ gridTemplateRows: GRID, gridTemplateColumns: GRID }}
            innerProps={{ "aria-hidden": true }}
            vertexSize={vertexSize}
            showCoordinates
            animateStonePlacement={false}
            {...maps}
            onVertexClick={click}
            onVertexPointerEnter={enter}
          />
        )}
        <Layer edge={GUTTER + BORDER} size={size} vertexSize={vertexSize} toMove={toMove} hover={hover} cursor={cursor} pending={pending} />
      </div>
    </div>
  );
}

/** A click does not give the board the focus, and whoever clicks there has done with writing elsewhere. */
function leaveFields(event) {
  event.preventDefault();
  if (!event.currentTarget.contains(document.activeElement)) document.activeElement?.blur();
}

/** What Shudan draws: stones, the last move, and at the end the dead stones. */
function shudanMaps({ size, position, move, scoring }) {
  const signMap = position?.board ?? emptyBoard(size);
  const markerMap = emptyBoard(size).map((row) => row.map(() => null));
  const last = move && toPoint(move[1], size);
  if (last && !scoring) markerMap[last[1]][last[0]] = { type: "circle" };
  if (!scoring) return { signMap, markerMap };
  const dimmedVertices = scoring.dead.map((vertex) => toPoint(vertex, size));
  for (const [x, y] of dimmedVertices) markerMap[y][x] = { type: "cross" };
  return { signMap, markerMap, dimmedVertices };
}

/** A cursor that arrows move while the board has the focus. */
function useCursor(size, position, act) {
  const [at, setAt] = useState(null);
  const [focused, setFocused] = useState(false);
  const middle = [Math.floor(size / 2), Math.floor(size / 2)];
  const [x, y] = at && at[0] < size && at[1] < size ? at : middle;
  const vertex = toVertex(x, y, size);

  const say = (px, py) => {
    const name = toVertex(px, py, size);
    const stone = position?.board[py][px];
    const reason = position?.illegal[name];
    announce(`${name}${stone ? `, ${colorName(stone === sign("B") ? "B" : "W")}` : reason ? `, ${reason}` : ""}`);
  };
  const keys = (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) {
      const next = [x + step[0], y + step[1]].map((n) => Math.max(0, Math.min(size - 1, n)));
      setAt(next);
      say(...next);
    } else if (event.key === "Enter" || event.key === " ") act(vertex);
    else if (event.key === "Escape") event.currentTarget.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const focus = { in: () => setFocused(true), out: () => setFocused(false) };
  return { cursor: focused ? vertex : null, keys, focus };
}
