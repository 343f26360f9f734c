/** Reads what strace has written of a process and its children: every call that changes a file, with its bytes. */
import { closeSync, openSync, readSync } from "node:fs";
import { join, normalize } from "node:path";

const CALLS = [
  ...["open", "openat", "creat", "write", "pwrite64", "writev", "pwritev", "pwritev2"],
  ...["fsync", "fdatasync", "sync_file_range", "rename", "renameat", "renameat2", "unlink"],
  ...["unlinkat", "mkdir", "mkdirat", "rmdir", "link", "linkat", "symlink", "symlinkat"],
  ...["truncate", "ftruncate", "fallocate", "copy_file_range", "sendfile", "splice"],
  // The answers to requests, and how relative paths are meant.
  ...["sendto", "sendmsg", "chdir"],
];
/** Longer than any buffer that is written at once. */
const STRING_MAX_BYTES = 64 * 2 ** 20;
const READ_BYTES = 16 * 2 ** 20;

/** The arguments that make strace write such a file. Bytes and paths are in hexadecimal. */
export function straceArguments(output: string): string[] {
  return [
    ...["-f", "-y", "--seccomp-bpf", "-qq", "-xx", "-s", String(STRING_MAX_BYTES)],
    ...["-e", "signal=none", "-e", `trace=${CALLS.join(",")}`, "-o", output],
  ];
}

/** A call of the kernel. Calls of several threads overlap. */
export interface Call {
  readonly name: string;
  /** The places in the trace where the call began and where it had returned. */
  readonly start: number;
  end: number;
  /** The buffers and paths among its arguments, absolute where they are paths. */
  readonly strings: readonly Buffer[];
  /** The paths of its open files, in order. That of a call which opens one is the last, once it has ended. */
  readonly files: string[];
  /** All arguments as they are written, with what is in `strings` and `files` left out. */
  readonly words: readonly string[];
  /** Negative for a failure. */
  result: number;
}

/** A call has begun, or has returned. */
export interface TraceEvent {
  readonly call: Call;
  readonly isEnd: boolean;
}

/** Calls whose strings are no paths. */
const HAS_BYTES = /^(write|pwrite|send)/;
const ENDING = / <unfinished \.\.\.>$|\) += .*$/s;
const RESULT = /= (-?\d+)[^=]*$/;
const QUOTE = 0x22;
const LESS = 0x3c;
const MORE = 0x3e;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const DIGITS = new Uint8Array(256);
for (const [value, digit] of [..."0123456789abcdef"].entries()) {
  DIGITS[digit.charCodeAt(0)] = value;
}

/** Bytes that are written as `\x2f\x64` between two places of a line. */
function decoded(line: Buffer, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe((to - from) >> 2);
  for (let i = 0, at = from + 2; i < bytes.length; i++, at += 4) {
    bytes[i] =
      ((DIGITS[line[at] as number] as number) << 4) | (DIGITS[line[at + 1] as number] as number);
  }
  return bytes;
}

interface Pieces {
  readonly strings: Buffer[];
  readonly files: string[];
  /** The line without them. */
  readonly rest: string;
}

/** Takes a line apart. */
function piecesOf(line: Buffer): Pieces {
  const strings: Buffer[] = [];
  const files: string[] = [];
  let rest = "";
  let from = 0;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    const isPath = byte === LESS && line[at + 1] === BACKSLASH;
    if (byte !== QUOTE && !isPath) continue;
    rest += line.toString("latin1", from, at + 1);
    const end = line.indexOf(isPath ? MORE : QUOTE, at + 1);
    if (isPath) files.push(decoded(line, at + 1, end).toString());
    else strings.push(decoded(line, at + 1, end));
    at = end;
    from = end;
  }
  return { strings, files, rest: rest + line.toString("latin1", from) };
}

/** Follows the calls of a trace. */
class Reader {
  readonly #pending = new Map<number, Call>();
  readonly #folders = new Map<number, string>();
  #folder = "/";

  private line = 0;

  *read(line: Buffer): Generator<TraceEvent> {
    this.line++;
    const head = /^(\d+) +(?:<\.\.\. (\w+) resumed>|(\w+)\()/.exec(line.toString("latin1", 0, 64));
    if (head === null) return;
    const pid = Number(head[1]);
    const pieces = piecesOf(line);
    if (head[3] === undefined) yield* this.#end(pid, pieces);
    else yield* this.#begin(pid, head[3], pieces, head[0].length);
  }

  *#begin(pid: number, name: string, pieces: Pieces, at: number): Generator<TraceEvent> {
    const { files, rest } = pieces;
    if (rest.includes("AT_FDCWD<")) this.#folders.set(pid, files[0] as string);
    const call: Call = {
      name,
      start: this.line,
      end: 0,
      files,
      result: -1,
      strings: this.#strings(pid, name, pieces),
      words: rest.slice(at).replace(ENDING, "").split(", "),
    };
    this.#pending.set(pid, call);
    yield { call, isEnd: false };
    if (!rest.endsWith("<unfinished ...>")) {
      yield* this.#end(pid, { strings: [], files: [], rest });
    }
    if (name === "chdir") {
      this.#folder = `${call.strings[0]}`;
      this.#folders.set(pid, this.#folder);
    }
  }

  *#end(pid: number, { files, rest }: Pieces): Generator<TraceEvent> {
    const call = this.#pending.get(pid);
    if (call === undefined) return;
    this.#pending.delete(pid);
    call.end = this.line;
    call.files.push(...files);
    call.result = Number(RESULT.exec(rest)?.[1] ?? -1);
    yield { call, isEnd: true };
  }

  /** A process that has said nothing else is in the folder to which one changed last, as children of PostgreSQL are. */
  #strings(pid: number, name: string, { strings, files }: Pieces): readonly Buffer[] {
    if (HAS_BYTES.test(name)) return strings;
    const folder = this.#folders.get(pid) ?? this.#folder;
    const bases = /at2?$/.test(name) ? files : [];
    return strings.map((path, i) => Buffer.from(absolute(bases[i] ?? folder, `${path}`)));
  }
}

const absolute = (folder: string, path: string) =>
  path.startsWith("/") ? normalize(path) : join(folder, path);

/** The events of a trace. */
export function* readTrace(path: string): Generator<TraceEvent> {
  const reader = new Reader();
  const file = openSync(path, "r");
  try {
    let rest = Buffer.alloc(0);
    for (;;) {
      const piece = Buffer.allocUnsafe(READ_BYTES);
      const length = readSync(file, piece);
      const bytes = Buffer.concat([rest, piece.subarray(0, length)]);
      let from = 0;
      for (let to = bytes.indexOf(NEWLINE); to >= 0; to = bytes.indexOf(NEWLINE, from)) {
        yield* reader.read(bytes.subarray(from, to));
        from = to + 1;
      }
      rest = bytes.subarray(from);
      if (length === 0) return;
    }
  } finally {
    closeSync(file);
  }
}
