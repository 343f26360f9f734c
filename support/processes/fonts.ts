import { join } from "node:path";
import { temporaryFolder } from "../folders.ts";

const PACKAGES = join(import.meta.dir, "../../node_modules/@expo-google-fonts");
const FONTS = [
  "inter/400Regular",
  "inter/500Medium",
  "inter/600SemiBold",
  "inter/700Bold",
  "jetbrains-mono/400Regular",
  "jetbrains-mono/700Bold",
];

const SANS = ["system-ui", "sans-serif", "serif"];
const MONO = ["ui-monospace", "monospace"];

function alias(family: string, font: string): string {
  return `<match target="pattern"><test name="family"><string>${family}</string></test>
<edit name="family" mode="assign" binding="strong"><string>${font}</string></edit></match>`;
}

/**
 * Settings of Fontconfig under which a program finds the fonts of the dev dependencies only, drawn without
 * hints, so that its pictures are the same on every machine.
 */
export async function writeFontSettings(): Promise<string> {
  const folder = temporaryFolder("fonts");
  const file = join(folder, "fonts.conf");
  const settings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
${FONTS.map((font) => `<dir>${join(PACKAGES, font)}</dir>`).join("\n")}
<cachedir>${join(folder, "cache")}</cachedir>
${SANS.map((family) => alias(family, "Inter")).join("\n")}
${MONO.map((family) => alias(family, "JetBrains Mono")).join("\n")}
<match target="font">
<edit name="antialias" mode="assign"><bool>true</bool></edit>
<edit name="hinting" mode="assign"><bool>false</bool></edit>
<edit name="rgba" mode="assign"><const>none</const></edit>
</match>
</fontconfig>
`;
  await Bun.write(file, settings);
  return file;
}
