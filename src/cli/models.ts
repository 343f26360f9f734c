import { Command } from "commander";
import { installRuntime } from "../models/install-runtime.ts";
import { configOf, type Io } from "./io.ts";
import { notice, print } from "./output.ts";

export function modelsCommand(io: Io): Command {
  const install = new Command("install")
    .description(
      "Install what runs models within the service, which other installations do not need.",
    )
    .addHelpText(
      "after",
      `
Fetches ONNX Runtime from the package registry, by a pinned version with its checksum: about 114 MB, of which
47 MB stay. It goes to Tessera's own folder, or to DATA_DIR/models where that cannot be written to.

Examples:
  ./tessera models install`,
    )
    .action(async () => {
      notice(io, "installing ONNX Runtime");
      print(io, await installRuntime(configOf(io).dataDir));
    });
  return new Command("models")
    .description("Manage models that the service runs itself.")
    .addCommand(install);
}
