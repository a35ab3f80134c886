// A contact sheet: one image with moments of the run at equal distances in time, each with its time.
import { theme } from "./colours.js";
import { element } from "./panel.js";

export function showSheet(app, wanted) {
  const count = Math.min(100, Math.max(1, Math.round(wanted) || 1));
  const sheet = element("canvas", { className: "sheet" });
  app.draw = () => {}; // the sheet replaces the animation
  app.parent.replaceChildren(sheet);
  const paint = () => drawSheet(app, sheet, count);
  new ResizeObserver(paint).observe(app.parent);
  paint();
}

function drawSheet(app, sheet, count) {
  const { clientWidth: width, clientHeight: height } = app.parent;
  const { renderer, camera } = app.world;
  const rows = Math.ceil(count / Math.max(1, Math.min(count, Math.round(Math.sqrt((count * width) / height / 1.4)))));
  const columns = Math.ceil(count / rows);
  const ratio = renderer.getPixelRatio();
  sheet.width = width * ratio;
  sheet.height = height * ratio;
  const w = Math.floor(sheet.width / columns);
  const h = Math.floor(sheet.height / rows);
  const c = sheet.getContext("2d");
  c.fillStyle = theme.ground;
  c.fillRect(0, 0, sheet.width, sheet.height);
  // The renderer draws one moment at a time, and its image is copied.
  renderer.setSize(w / ratio, h / ratio);
  camera.aspect = w / h;
  camera.updateProjectionMatrix();
  app.world.home();
  app.followTraveller();
  c.font = `${Math.round(13 * ratio)}px system-ui, sans-serif`;
  c.textBaseline = "bottom";
  for (let k = 0; k < count; ++k) {
    app.time = count > 1 ? app.start + ((app.end - app.start) * k) / (count - 1) : app.start;
    app.moveBodies();
    app.keepUp();
    app.world.render();
    const x = (k % columns) * w;
    const y = Math.floor(k / columns) * h;
    c.drawImage(renderer.domElement, x, y, w - 2, h - 2);
    c.fillStyle = theme.text;
    c.fillText(`${Number(app.time.toPrecision(4))} s`, x + 8 * ratio, y + h - 8 * ratio);
  }
}
