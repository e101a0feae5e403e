/** Messages of PostgreSQL, as a test server writes them. */

/** One message: its letter, and its body. */
export function message(letter: string, body: string | readonly number[]): Buffer {
  const content = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
  const head = Buffer.alloc(5)
  head.write(letter, 'latin1')
  head.writeInt32BE(4 + content.length, 1)
  return Buffer.concat([head, content])
}

const READY = message('Z', 'I')

/** Accepts any login without a password. */
export const WELCOME = Buffer.concat([
  message('R', [0, 0, 0, 0]),
  message('K', [0, 0, 0, 1, 0, 0, 0, 2]),
  READY,
])

/** A row of one column. */
export const row = (value: string): Buffer => {
  const text = Buffer.from(value)
  const size = Buffer.alloc(4)
  size.writeInt32BE(text.length)
  return message('D', [0, 1, ...size, ...text])
}

/** The messages before the first row of a column `a`, including the replies to BEGIN and to the settings. */
export const FIRST = Buffer.concat([
  ...[message('1', []), message('2', []), message('C', 'BEGIN\0')],
  ...[message('1', []), message('2', []), row('UTC'), message('C', 'SELECT 1\0')],
  message('1', []),
  message('2', []),
  message('T', [0, 1, 97, 0, ...Array(6).fill(0), 0, 0, 0, 25, ...Array(8).fill(0)]),
])

/** The messages after the last row; `isClean` states whether the session was reset. */
export const lastOf = (isClean: boolean): Buffer =>
  Buffer.concat([
    message('C', 'SELECT 1\0'),
    ...[message('1', []), message('2', []), message('C', 'COMMIT\0')],
    ...(isClean
      ? [message('1', []), message('2', []), message('C', 'DISCARD ALL\0')]
      : [message('E', 'SERROR\0C0A000\0Mno\0\0')]),
    READY,
  ])
