/**
 * Fields of rows and arrays in PostgreSQL's binary form, as COPY takes them: a length in bytes, -1 for null,
 * and the value (PostgreSQL, COPY, "Binary Format", and the `_recv` functions of its types).
 */

export const LENGTH_BYTES = 4

/** Object ids of PostgreSQL's types (pg_type). */
const OIDS = { text: 25, uuid: 2950 } as const

/** Size of an array's header, in bytes. */
export const LIST_HEADER_BYTES = 20

/**
 * Makes the header of an array without nulls: number of dimensions, whether there are nulls, the elements'
 * type, their number, the index of the first one.
 */
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

/** Makes the field of a `bigint`, or of a timestamp in microseconds since the year 2000. */
export function numberField(value: number | bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64BE(BigInt(value))
  return fieldOf(bytes)
}

/** Field that is null. */
export const NULL_FIELD: Buffer = Buffer.from([255, 255, 255, 255])

/** Returns the maximum size of a text's field, in bytes. */
export const mostBytesOf = (text: string | null): number =>
  LENGTH_BYTES + (text === null ? 0 : text.length * 3)

/** Writes the field of a text and returns its end. */
export function writeTextField(room: Buffer, at: number, text: string | null): number {
  if (text === null) return room.writeInt32BE(-1, at)
  const from = at + LENGTH_BYTES
  // Texts are mostly short and ASCII. For these, calling the encoder takes longer than this loop.
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
