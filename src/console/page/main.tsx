import { render } from "preact";
import { Shell } from "./shell.tsx";

const place = document.getElementById("console");
if (place !== null) {
  place.replaceChildren();
  render(<Shell />, place);
}
