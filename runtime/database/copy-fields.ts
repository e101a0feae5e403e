/**
 * Fields of a row as COPY and lists have them in PostgreSQL's binary form: a length in bytes, -1 for null, and the value
 * (PostgreSQL, COPY, "Binary Format", and the `_recv` functions of its types).
 */

export const LENGTH_BYTES = 4

/** PostgreSQL's numbers of types (pg_type). */
const OIDS = { text: 25, uuid: 2950 } as const

/** Bytes of what begins a list. */
export const LIST_HEADER_BYTES = 20

/** What begins a list without nulls: dimensions, whether there are nulls, the elements' type, how many, the first one's place. */
export function listHeader(type: keyof typeof OIDS, count: number): Buffer {
  const header = Buffer.allocUnsafe(LIST_HEADER_BYTES)
  let at = 0
  for (const number of [1, 0, OIDS[type], count, 1]) at = header.writeInt32BE(number, at)
  return header
}

function fieldOf(value: Buffer): Buffer {
  const field = Buffer.allocUnsafe(LENGTH_BYTES + value.length)
  value.copy(field, field.writeInt32BE(value.length))
  return field
}

export const uuidField = (id: string): Buffer => fieldOf(Buffer.from(id.replaceAll('-', ''), 'hex'))

export const textField = (text: string): Buffer => fieldOf(Buffer.from(text))

export const textListField = (texts: readonly string[]): Buffer =>
  fieldOf(Buffer.concat([listHeader('text', texts.length), ...texts.map(textField)]))

/** Of a `bigint`, or of a moment: microseconds since the year 2000. */
export function numberField(value: number | bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64BE(BigInt(value))
  return fieldOf(bytes)
}

/** A field that is null. */
export const NULL_FIELD: Buffer = Buffer.from([255, 255, 255, 255])

/** Most bytes that the field of a text takes. */
export const mostBytesOf = (text: string | null): number =>
  LENGTH_BYTES + (text === null ? 0 : text.length * 3)

/** Writes the field of a text; answers where it ends. */
export function writeTextField(room: Buffer, at: number, text: string | null): number {
  if (text === null) return room.writeInt32BE(-1, at)
  const from = at + LENGTH_BYTES
  // Texts are short and ASCII mostly, for which a call of the encoder takes longer than they do.
  let n = 0
  for (; n < text.length; n += 1) {
    const code = text.charCodeAt(n)
    if (code > 0x7f) break
    room[from + n] = code
  }
  const bytes = n === text.length ? n : room.write(text, from)
  room.writeInt32BE(bytes, at)
  return from + bytes
}
