/** A hostile database on loopback. The text of a statement selects the action. */
import type { Socket } from 'node:net'

/** Text that no request may contain. */
const FORBIDDEN = 'must-not-arrive'

const message = (letter: string, ...parts: (Buffer | string | number[])[]): Buffer => {
  const bytes = (one: Buffer | string | number[]): Buffer =>
    typeof one === 'string' ? Buffer.from(one) : Buffer.from(one)
  const body = Buffer.concat(parts.map(bytes))
  const head = Buffer.alloc(5)
  head.write(letter, 'latin1')
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const READY = message('Z', 'I')
const OPEN = message('Z', 'T')
const WELCOME = Buffer.concat([message('R', int32(0)), message('K', int32(1), int32(2)), READY])
const done = (tag: string): Buffer => message('C', `${tag}\0`)
const prepared = Buffer.concat([message('1'), message('2')])
/** Makes the description of text columns with these names. */
const columns = (...names: string[]): Buffer =>
  message(
    'T',
    [0, names.length],
    ...names.map((name) => Buffer.concat([Buffer.from(`${name}\0`), COLUMN])),
  )
const COLUMN = Buffer.from([...Array(6).fill(0), 0, 0, 0, 25, ...Array(8).fill(0)])
const row = (...values: string[]): Buffer =>
  message(
    'D',
    [0, values.length],
    ...values.map((value) => Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)])),
  )

/** Messages after the last row: the transaction ends, and the session's state is discarded. */
const ENDED = Buffer.concat([
  ...[done('SELECT 1'), prepared, done('COMMIT'), prepared, done('DISCARD ALL')],
  READY,
])

type Answer = (bytes: Buffer) => boolean
type Action = (answer: Answer, socket: Socket) => void

/** Messages before the rows of the requested statement: BEGIN and the settings were sent along with it. */
const BEGUN = Buffer.concat([prepared, done('BEGIN'), prepared, done('SELECT 0'), prepared])

const rows =
  (one: Buffer): Action =>
  (answer, socket) => {
    answer(Buffer.concat([BEGUN, columns('a')]))
    const go = () => {
      while (!socket.destroyed) if (!answer(one)) return void socket.once('drain', go)
    }
    go()
  }

/** Actions by NAME in `select NAME`. Any other statement succeeds at once. */
const ACTIONS: Readonly<Record<string, Action>> = {
  silent: () => {},
  dripping: (answer, socket) => {
    answer(Buffer.from([68, 0, 0x10, 0, 0]))
    const timer = setInterval(() => answer(Buffer.from([0])), 50)
    socket.on('close', () => clearInterval(timer))
  },
  endless: rows(row('x'.repeat(1000))),
  wide: rows(row(...Array(1000).fill('x'))),
  pages: (answer) => {
    answer(Buffer.concat([BEGUN, columns('a'), row('x'), message('s'), OPEN]))
  },
  announced: (answer) => void answer(Buffer.from([68, 0x7f, 0xff, 0xff, 0xff])),
  garbage: (answer) => void answer(Buffer.alloc(10_000, 0xff)),
  unended: (answer) => void answer(message('E', 'SERROR\0')),
  short: (answer) => void answer(Buffer.concat([BEGUN, columns('a'), message('D', [0, 9])])),
  negative: (answer) => void answer(Buffer.concat([BEGUN, message('T', [0xff, 0xff])])),
  copying: (answer) => void answer(message('G', [0, 0, 0])),
  greeting: (answer) => void answer(Buffer.concat(Array(2000).fill(WELCOME))),
  asking: (answer) => void answer(message('R', int32(3))),
  closing: (_answer, socket) => void socket.destroy(),
  polluting: (answer) =>
    void answer(
      Buffer.concat([
        BEGUN,
        columns('__proto__', 'constructor'),
        row('polluted', 'polluted'),
        ENDED,
      ]),
    ),
  leaves: (answer) => void answer(Buffer.concat([BEGUN, columns('a'), row('x'), ENDED])),
  fails: (answer) =>
    void answer(Buffer.concat([message('E', 'SERROR\0C22012\0Mno\0\0'), message('Z', 'E')])),
}

/** Statements that leave state in their session, and the only statements that may follow there. */
const LEAVING = /^select (?:leaves|fails)/
const AFTER = ['COMMIT', 'ROLLBACK', 'DISCARD ALL']

/** Permitted forms of statements with placeholders, with their quoted parts removed. */
const SHAPES = ['grant "" to ""', 'comment on role "" is \'\'']

const withoutQuoted = (text: string): string =>
  text
    .replace(/"(?:[^"]|"")*"/g, '""')
    .replace(/ E'(?:[^'\\]|''|\\.)*'/g, "''")
    .replace(/'(?:[^']|'')*'/g, "''")

/**
 * Serves one connection.
 *
 * @param arrived Called with each forbidden text that arrives.
 */
export function serveDatabase(socket: Socket, arrived: (what: string) => void): void {
  let held: Buffer = Buffer.alloc(0)
  let isWelcome = false
  let texts: string[] = []
  let isLeft = false
  const answer: Answer = (bytes) => !socket.destroyed && socket.write(bytes)
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    if (chunk.includes(FORBIDDEN)) arrived(`the database received ${FORBIDDEN}`)
    for (;;) {
      const at = isWelcome ? 1 : 0
      if (held.length < at + 4) return
      const size = at + held.readInt32BE(at)
      if (held.length < size) return
      const one = held.subarray(0, size)
      held = held.subarray(size)
      if (isWelcome) serve(String.fromCharCode(one[0] ?? 0), one.subarray(5))
      else {
        isWelcome = true
        answer(WELCOME)
      }
    }
  })

  function serve(letter: string, body: Buffer): void {
    if (letter === 'X') return void socket.end()
    if (letter === 'P') texts.push(body.subarray(1, body.indexOf(0, 1)).toString('utf8'))
    if (letter !== 'S') return
    const all = texts
    texts = []
    for (const text of all.filter((one) => /^(grant|comment)/.test(one)))
      if (!SHAPES.includes(withoutQuoted(text))) arrived(`the database received ${text}`)
    for (const text of all) {
      if (isLeft && !AFTER.includes(text))
        arrived('a request was sent in a session that still had the state of another')
      isLeft = LEAVING.test(text) || (isLeft && text !== 'DISCARD ALL')
    }
    const asked = all.map((text) => /^select (\w+)/.exec(text)?.[1] ?? '').find((one) => one !== '')
    // Statements after a failed one are not executed.
    if (asked === 'fails') isLeft = true
    const action = ACTIONS[asked ?? '']
    if (action) return action(answer, socket)
    // Next page of a result that never ends.
    if (all.length === 0) return void answer(Buffer.concat([row('x'), message('s'), OPEN]))
    answer(Buffer.concat([...all.flatMap(() => [prepared, done('DONE 0')]), READY]))
  }
}
