// Keyboard. In a page by itself the whole window listens; in a document, only the viewer with the focus does.
import { switches } from "./panel.js";

export function handleKeys(app) {
  const whole = document.body.classList.contains("whole");
  app.parent.tabIndex = 0;
  (whole ? window : app.parent).addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    if (event.key === " " && event.target.tagName === "BUTTON") return; // space presses the button
    if (act(app, event)) event.preventDefault();
  });
}

function act(app, event) {
  const some = event.shiftKey ? 10 : 1;
  const bodies = app.scene.bodies.length;
  switch (event.key) {
    case " ": app.togglePlay(); return true;
    case "ArrowLeft": app.step(-some); return true;
    case "ArrowRight": app.step(some); return true;
    case "Home": app.seek(app.start); return true;
    case "End": app.seek(app.end); return true;
    case "+":
    case "=": app.faster(1); return true;
    case "-": app.faster(-1); return true;
    case "f": app.followBody(bodies > 0 ? (app.followed + 2) % (bodies + 1) - 1 : -1); return true;
    case "Escape": app.followBody(-1); return true;
    case "r":
      app.followBody(-1);
      app.world.home();
      return true;
  }
  if (event.key >= "1" && event.key <= "9") {
    app.toggleRun(Number(event.key) - 1);
    return true;
  }
  const named = switches.find(([, , key]) => key === event.key);
  if (named) app.toggle(named[0]);
  return Boolean(named);
}
