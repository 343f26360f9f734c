/** Prints how a script is called and ends the process, if its arguments ask for that. */
export function helpIfAsked(usage: string): void {
  if (!process.argv.slice(2).includes("--help")) return;
  process.stdout.write(usage);
  process.exit(0);
}
