/** A hostile directory on loopback. The first value of the requested DN selects the action. */
import type { Socket } from 'node:net'
import { isWithin, parseDn } from '../contract/connector/dn.ts'

/** Base of every request: the `base` of the attacks. */
const DIRECTORY_BASE = 'dc=acme'
const BASE = parseDn(DIRECTORY_BASE) ?? []

/** Text that no request may contain. */
const FORBIDDEN = 'must-not-arrive'
/** Value that may only be compared: a filter that contains it must be a single equality. */
const ONLY_A_VALUE = 'only-a-value'

const BIND = 0x60
const UNBIND = 0x42
const SEARCH = 0x63
const DELETE = 0x4a
const EQUALITY = 0xa3

const element = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const size = Buffer.alloc(4)
  size.writeUInt32BE(content.length)
  return Buffer.concat([Buffer.from([tag, 0x84]), size, content])
}
const text = (value: string, tag = 0x04): Buffer => element(tag, Buffer.from(value))
const number = (value: number, tag = 0x02): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return element(tag, bytes)
}
const message = (id: number, ...parts: Buffer[]): Buffer => element(0x30, number(id), ...parts)

const result = (tag: number, code = 0, ...more: Buffer[]): Buffer =>
  element(tag, number(code, 0x0a), text(''), text(''), ...more)
const entry = (dn: string, name: string, ...values: Buffer[]): Buffer =>
  element(0x64, text(dn), element(0x30, element(0x30, text(name), element(0x31, ...values))))
/** Control of RFC 2696 with a cookie: there is always another page. */
const furtherPage = element(
  0xa0,
  element(
    0x30,
    text('1.2.840.113556.1.4.319'),
    element(0x04, element(0x30, number(0), text('next'))),
  ),
)

type Action = (answer: (...parts: Buffer[]) => boolean, socket: Socket, canary: string) => void

/** Actions by NAME in a request for `cn=NAME,...`. Nothing is found below any other name. */
const ACTIONS: Readonly<Record<string, Action>> = {
  silent: () => {},
  dripping: (_answer, socket) => {
    socket.write(Buffer.from([0x30, 0x84, 0x00, 0x10, 0x00, 0x00]))
    const timer = setInterval(() => socket.write(Buffer.from([0x02])), 50)
    socket.on('close', () => clearInterval(timer))
  },
  endless: (answer, socket) => {
    const one = entry('cn=x,dc=acme', 'cn', text('x'.repeat(1000)))
    const go = () => {
      while (!socket.destroyed) if (!answer(one)) return void socket.once('drain', go)
    }
    go()
  },
  pages: (answer) => {
    answer(entry('cn=x,dc=acme', 'cn', text('x')))
    answer(result(0x65), furtherPage)
  },
  values: (answer) => {
    answer(entry('cn=x,dc=acme', 'cn', Buffer.concat(Array(400_000).fill(text('x')))))
    answer(result(0x65))
  },
  elsewhere: (answer, _socket, canary) => {
    const there = text(`${canary.replace('http:', 'ldap:')}/dc=acme`)
    answer(element(0x73, there))
    answer(result(0x65, 10, element(0xa3, there)))
  },
  announced: (_answer, socket) => socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff])),
  garbage: (_answer, socket) => socket.write(Buffer.alloc(10_000, 0xff)),
  indefinite: (_answer, socket) => socket.write(Buffer.from([0x30, 0x80, 0x02, 0x01, 0x02])),
  short: (answer) => {
    answer(Buffer.from([0x64, 0x05, 0x04, 0x7f, 0x61, 0x62, 0x63]))
  },
  deep: (answer) => {
    let nested = text('x')
    for (let depth = 0; depth < 5000; depth += 1) nested = element(0x30, nested)
    answer(element(0x64, text('cn=x,dc=acme'), nested))
  },
  polluting: (answer) => {
    answer(entry('cn=x,dc=acme', '__proto__', text('polluted')))
    answer(result(0x65))
  },
  closing: (_answer, socket) => void socket.destroy(),
  others: (_answer, socket) => {
    for (const id of [0, -1, 999, 2 ** 30]) socket.write(message(id, result(0x65)))
  },
  notice: (_answer, socket) => {
    // Notice of disconnection (RFC 4511 section 4.4.1), without the disconnection.
    const name = text('1.3.6.1.4.1.1466.20036', 0x8a)
    socket.write(message(0, result(0x78, 52, name)))
  },
}

/**
 * Serves one connection.
 *
 * @param arrived Called with each forbidden text that arrives.
 */
export function serveDirectory(
  socket: Socket,
  canary: string,
  arrived: (what: string) => void,
): void {
  let held: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    for (;;) {
      const whole = readElement(held, 0)
      if (whole === null) return
      const one = held.subarray(whole.start, whole.stop)
      held = held.subarray(whole.stop)
      serve(one)
    }
  })

  function serve(one: Buffer): void {
    const id = readElement(one, 0)
    const operation = id === null ? null : readElement(one, id.stop)
    if (id === null || operation === null) return
    const { tag, start, stop } = operation
    const reply = (...parts: Buffer[]) =>
      socket.write(message(one.readIntBE(id.start, id.stop - id.start), ...parts))
    if (one.includes(FORBIDDEN)) arrived(`the directory received ${FORBIDDEN}`)
    if (tag === UNBIND) return void socket.end()
    if (tag === BIND) return void reply(result(0x61))
    const dn =
      tag === DELETE ? one.toString('utf8', start, stop) : textAt(one, readElement(one, start))
    const read = parseDn(dn)
    if (read === null || !isWithin(read, BASE))
      arrived(`the directory received a request for ${dn}`)
    if (tag !== SEARCH) return void reply(result(tag === DELETE ? 0x6b : tag + 1))
    if (one.includes(ONLY_A_VALUE) && filterTag(one, start) !== EQUALITY)
      arrived('the directory received an injected filter')
    const action = ACTIONS[read?.[0]?.[0]?.value ?? '']
    if (action) action(reply, socket, canary)
    else reply(result(0x65))
  }
}

/** Returns the tag of a search's filter, which follows base, scope, aliases, two limits and a flag. */
function filterTag(bytes: Buffer, start: number): number | undefined {
  let at = start
  for (let skipped = 0; skipped < 6; skipped += 1) at = readElement(bytes, at)?.stop ?? bytes.length
  return bytes[at]
}

const textAt = (bytes: Buffer, place: Place | null): string =>
  place === null ? '' : bytes.toString('utf8', place.start, place.stop)

type Place = { tag: number; start: number; stop: number }

/**
 * Returns the tag of the element at an index and the place of its contents. Null if it has not arrived
 * completely.
 */
function readElement(bytes: Buffer, at: number): Place | null {
  const [tag, first] = [bytes[at], bytes[at + 1]]
  if (tag === undefined || first === undefined) return null
  const more = first < 0x80 ? 0 : first & 0x7f
  if (bytes.length < at + 2 + more) return null
  const size = more === 0 ? first : bytes.readUIntBE(at + 2, Math.min(more, 6))
  const start = at + 2 + more
  return bytes.length < start + size ? null : { tag, start, stop: start + size }
}
