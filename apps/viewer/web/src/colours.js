// Colours that colour-blind readers can tell apart (Okabe and Ito, Color Universal Design, 2008).
import { Color } from "three";

// The page follows the colour scheme that the reader prefers, as its style sheet does.
const dark = globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches ?? false;
export const theme = dark
  ? { background: "#1c2023", ground: "#272c30", fine: "#30363b", coarse: "#4a535a", text: "#e8ebed", muted: "#9aa4ad", line: "#454d54" }
  : { background: "#f6f7f8", ground: "#eef0f2", fine: "#dfe3e6", coarse: "#b9c0c6", text: "#111111", muted: "#5a636b", line: "#cfd5da" };

export const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7a7a7a"];
export const meaning = {
  contact: "#d55e00",
  gradient: "#aa3377",
  control: "#009e73",
  axis: "#0072b2",
  centre: theme.text,
  target: "#d55e00",
  world: "#b9bec4",
};

// The colour of a run: the last run is coloured, and the one before it grey, as in "before" and "after".
export function runColour(index, count) {
  if (count === 1) return null;
  return index === count - 1 ? palette[0] : ["#8c8c8c", "#e69f00", "#009e73", "#cc79a7", "#56b4e9"][index % 5];
}

// The colour of a body: that of its tree or its run; every other link of a chain is a little lighter.
export function bodyColour(bodies, body, ofRun) {
  if (body < 0) return new Color(meaning.world);
  const colour = new Color(ofRun ?? palette[bodies[body].tree % palette.length]);
  let depth = 0;
  for (let i = bodies[body].parent; i >= 0; i = bodies[i].parent) ++depth;
  return depth % 2 ? colour.lerp(new Color("#ffffff"), 0.35) : colour;
}
