/** A field of a protobuf message: its bytes. */
type Field = Uint8Array;

const VARINT = 0;
const BYTES = 2;
const FIXED_32 = 5;
const WIRE_BITS = 3n;
const VARINT_BITS = 7n;
const VARINT_MASK = 0x7fn;
const VARINT_MORE = 0x80;
const UINT64_BITS = 64;

function varint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(UINT64_BITS, value);
  for (; rest > VARINT_MASK; rest >>= VARINT_BITS) {
    bytes.push(Number(rest & VARINT_MASK) | VARINT_MORE);
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

const tag = (field: number, wire: number) => varint((BigInt(field) << WIRE_BITS) | BigInt(wire));

/** A number as protobuf's int32, int64 or enum. */
export function integer(field: number, value: number | bigint): Field {
  return Buffer.concat([tag(field, VARINT), varint(BigInt(value))]);
}

export function float(field: number, value: number): Field {
  return Buffer.concat([tag(field, FIXED_32), new Uint8Array(Float32Array.of(value).buffer)]);
}

/** A string, bytes, or another message. */
export function bytes(field: number, value: string | Uint8Array): Field {
  const content = typeof value === "string" ? Buffer.from(value) : value;
  return Buffer.concat([tag(field, BYTES), varint(BigInt(content.length)), content]);
}

export function message(...fields: readonly (Field | readonly Field[])[]): Uint8Array {
  return Buffer.concat(fields.flat() as Field[]);
}
