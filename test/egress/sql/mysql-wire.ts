/** Packets of MySQL, as a test server writes them. */

/** One packet: its number, and its body. */
export function packet(number: number, ...body: (Buffer | string | readonly number[])[]): Buffer {
  const content = Buffer.concat(
    body.map((one) => (typeof one === 'string' ? Buffer.from(one) : Buffer.from(one))),
  )
  const head = Buffer.alloc(4)
  head.writeUIntLE(content.length, 0, 3)
  head[3] = number
  return Buffer.concat([head, content])
}

const PLAIN = 0x0008_a209
const ENCRYPTED = 0x800

/** The greeting of a server. */
export function greeting({
  encrypts = false,
  version = '11.4.0-MariaDB',
}: {
  encrypts?: boolean
  version?: string
} = {}): Buffer {
  const flags = Buffer.alloc(4)
  flags.writeUInt32LE(encrypts ? PLAIN | ENCRYPTED : PLAIN)
  return packet(
    0,
    [10],
    `${version}\0`,
    [1, 0, 0, 0],
    'scramble',
    [0],
    flags.subarray(0, 2),
    [45, 2, 0],
    flags.subarray(2),
    [21, ...Array(10).fill(0)],
    'second-half!',
    [0],
    'mysql_native_password\0',
  )
}

export const ok = (number: number): Buffer => packet(number, [0, 0, 0, 2, 0, 0, 0])

/** The definition of a text column `a`. */
export const column = (number: number, type = 253): Buffer =>
  packet(number, [3], 'def', [0, 0, 0, 1], 'a', [0, 12, 45, 0, 4, 0, 0, 0, type, 0, 0, 0, 0, 0])

export const end = (number: number): Buffer => packet(number, [254, 0, 0, 2, 0])

/** The packets before the rows of one column; the rows begin with the number 4. */
export const first: Buffer = Buffer.concat([packet(1, [1]), column(2), end(3)])

/** A row of one text of fewer than 251 bytes, in the reply to a prepared statement. */
export const binaryRow = (number: number, text: string): Buffer =>
  packet(number, [0, 0, Buffer.byteLength(text)], text)

/** The reply to the preparation of a statement with these numbers of columns and parameters. */
export const prepared = (columns: number, parameters: number): Buffer =>
  packet(1, [0, 1, 0, 0, 0, columns, 0, parameters, 0, 0, 0, 0])
