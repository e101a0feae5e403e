/** Messages of PostgreSQL, as a server of a test writes them. */

/** One message: its letter, and its body. */
export function message(letter: string, body: string | readonly number[]): Buffer {
  const content = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
  const head = Buffer.alloc(5)
  head.write(letter, 'latin1')
  head.writeInt32BE(4 + content.length, 1)
  return Buffer.concat([head, content])
}

const READY = message('Z', 'I')

/** What lets anyone in: no password is asked for. */
export const WELCOME = Buffer.concat([
  message('R', [0, 0, 0, 0]),
  message('K', [0, 0, 0, 1, 0, 0, 0, 2]),
  READY,
])

/** What answers the settings of a session, which go in one query. */
export const SETTLED = Buffer.concat([...Array(5).fill(message('C', 'SET\0')), READY])

/** A row of one column. */
export const row = (value: string): Buffer => {
  const text = Buffer.from(value)
  const size = Buffer.alloc(4)
  size.writeInt32BE(text.length)
  return message('D', [0, 1, ...size, ...text])
}

/** What comes before the first row of a column `a`, behind BEGIN and SET. */
export const FIRST = Buffer.concat([
  ...['BEGIN', 'SET'].flatMap((tag) => [
    message('1', []),
    message('2', []),
    message('C', `${tag}\0`),
  ]),
  message('1', []),
  message('2', []),
  message('T', [0, 1, 97, 0, ...Array(6).fill(0), 0, 0, 0, 25, ...Array(8).fill(0)]),
])
