/** What matches one code point, or any number of them. */
type Token =
  | { readonly kind: "literal"; readonly char: string }
  /** One code point of a name. */
  | { readonly kind: "one" }
  /** Any part of a name. */
  | { readonly kind: "star" }
  /** Anything. */
  | { readonly kind: "globstar" }
  /** Nothing, or else the folder that the next token stands for. */
  | { readonly kind: "optional" }
  /** Any folders, with the slash at their end. */
  | { readonly kind: "folders" };

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  const chars = [...pattern];
  for (let at = 0; at < chars.length; ) {
    const char = chars[at] as string;
    let stars = 0;
    while (chars[at + stars] === "*") stars++;
    const beginsName = at === 0 || chars[at - 1] === "/";
    if (stars === 2 && beginsName && chars[at + 2] === "/") {
      tokens.push({ kind: "optional" }, { kind: "folders" });
      at += 3;
    } else if (stars > 0) {
      tokens.push({ kind: stars === 1 ? "star" : "globstar" });
      at += stars;
    } else {
      tokens.push(char === "?" ? { kind: "one" } : { kind: "literal", char });
      at++;
    }
  }
  return tokens;
}

/** Adds a state, and those that are reached from it without a code point, unless they were added before. */
function enter(states: Uint8Array, tokens: readonly Token[], from: number): void {
  for (let state = from; states[state] !== 1; state++) {
    states[state] = 1;
    const kind = tokens[state]?.kind;
    if (kind === "optional") enter(states, tokens, state + 2);
    else if (kind !== "star" && kind !== "globstar") return;
  }
}

/** Adds the states that follow a state after a code point. */
function step(states: Uint8Array, tokens: readonly Token[], state: number, char: string): void {
  const token = tokens[state];
  const isSlash = char === "/";
  switch (token?.kind) {
    case "literal":
      if (token.char === char) enter(states, tokens, state + 1);
      break;
    case "one":
      if (!isSlash) enter(states, tokens, state + 1);
      break;
    case "star":
      if (!isSlash) enter(states, tokens, state);
      break;
    case "globstar":
      enter(states, tokens, state);
      break;
    case "folders":
      states[state] = 1;
      if (isSlash) enter(states, tokens, state + 1);
      break;
  }
}

/**
 * A test for a pattern: `*` is any part of a name, `**` also crosses `/`, a leading or inner folder
 * `**` may be none, `?` is one code point of a name, everything else is literal. It follows all
 * possibilities at once, so its time grows with the lengths of pattern and text only.
 */
export function compileGlob(pattern: string): (text: string) => boolean {
  const prefix = /^[^*?]*/.exec(pattern)?.[0] as string;
  if (prefix === pattern) return (text) => text === pattern;
  const tokens = tokensOf(pattern).slice([...prefix].length);
  return (text) => text.startsWith(prefix) && matchAll(tokens, text.slice(prefix.length));
}

function matchAll(tokens: readonly Token[], text: string): boolean {
  let states = new Uint8Array(tokens.length + 1);
  let next = new Uint8Array(tokens.length + 1);
  enter(states, tokens, 0);
  for (const char of text) {
    next.fill(0);
    for (let state = states.indexOf(1); state >= 0; state = states.indexOf(1, state + 1)) {
      step(next, tokens, state, char);
    }
    [states, next] = [next, states];
    if (states.indexOf(1) < 0) return false;
  }
  return states[tokens.length] === 1;
}
