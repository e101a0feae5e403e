/**
 * Judges each MySQL packet before the library reads it: whether the command allows it at this point, and
 * whether its lengths add up.
 *
 * Source: MariaDB, Client/Server Protocol (result set packets, COM_STMT_PREPARE, binary rows).
 */
import { cut } from '../../bounded/cut.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Judged } from '../wire/guard.ts'
import { HEAD_BYTES } from './mysql-greeting.ts'

/** State of a reply. It decides which packet may come next. */
type State =
  | { at: 'login' }
  | { at: 'idle' }
  | { at: 'answer'; form: Form }
  | { at: 'prepared' }
  | { at: 'confirmation' }
  | {
      at: 'columns'
      left: number
      types: number[]
      next: Form | 'definitions' | 'nothing'
      more: number
    }
  | { at: 'columns-end'; types: number[]; next: Form | 'definitions' | 'nothing'; more: number }
  | { at: 'rows'; types: number[]; form: Form }

type Form = 'text' | 'binary'

/** Commands that the library sends, by their byte; null for a command without a reply. */
const COMMANDS: Readonly<Record<number, State | null>> = {
  1: null,
  3: { at: 'answer', form: 'text' },
  22: { at: 'prepared' },
  23: { at: 'answer', form: 'binary' },
  25: null,
  31: { at: 'confirmation' },
}

const OK = 0
const MORE = 1
const NULL = 0xfb
const END = 0xfe
const REFUSED = 0xff
/** An end packet is shorter than a row that begins with the same byte. */
const END_BYTES = 9
/** Maximum number of columns. More than a table can have. */
const MAX_COLUMNS = 4096

/** Sizes of values in binary rows, in bytes, by type. Other types carry their length. */
const FIXED: Readonly<Record<number, number>> = { 1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 8: 8, 9: 4, 13: 2 }
/**
 * Types of times, whose first byte is their length: 0, 4, 7 or 11 for date, datetime and timestamp, 0, 8 or
 * 12 for time.
 */
const TIMES: Readonly<Record<number, readonly number[]>> = {
  7: [0, 4, 7, 11],
  10: [0, 4, 7, 11],
  11: [0, 8, 12],
  12: [0, 4, 7, 11],
}
const NULL_TYPE = 6

/** Reads a length-encoded number. Returns null if it does not fit, or is not a length. */
function lengthAt(body: Buffer, at: number): { value: number; next: number } | null {
  const first = body[at]
  if (first === undefined || first === NULL || first === REFUSED) return null
  if (first < NULL) return { value: first, next: at + 1 }
  const bytes = first === 0xfc ? 2 : first === 0xfd ? 3 : 8
  if (at + 1 + bytes > body.length) return null
  if (bytes === 8 && body.readUInt32LE(at + 5) !== 0) return null
  return { value: body.readUIntLE(at + 1, Math.min(bytes, 4)), next: at + 1 + bytes }
}

/** Returns the end of a length-encoded value, or -1 if it does not fit. */
function valueEnd(body: Buffer, at: number): number {
  const length = lengthAt(body, at)
  if (length === null || length.next + length.value > body.length) return -1
  return length.next + length.value
}

/** Returns the type of a column from its definition, or -1 if that is malformed. */
function columnType(body: Buffer): number {
  let at = 0
  for (let index = 0; index < 6; index += 1) {
    at = valueEnd(body, at)
    if (at === -1) return -1
  }
  // Twelve bytes of fixed fields, after their length. The type follows charset and width.
  if (body[at] !== 12 || body.length !== at + 13) return -1
  return body[at + 7] ?? -1
}

function isTextRow(body: Buffer, count: number): boolean {
  let at = 0
  for (let index = 0; index < count; index += 1) {
    at = body[at] === NULL ? at + 1 : valueEnd(body, at)
    if (at === -1) return false
  }
  return at === body.length
}

function isBinaryRow(body: Buffer, types: readonly number[]): boolean {
  let at = 1 + ((types.length + 9) >> 3)
  if (body[0] !== OK || at > body.length) return false
  for (const [index, type] of types.entries()) {
    const bit = index + 2
    if (((body[1 + (bit >> 3)] ?? 0) >> (bit & 7)) & 1 || type === NULL_TYPE) continue
    at = binaryEnd(body, at, type)
    if (at === -1 || at > body.length) return false
  }
  return at === body.length
}

function binaryEnd(body: Buffer, at: number, type: number): number {
  const fixed = FIXED[type]
  if (fixed !== undefined) return at + fixed
  const times = TIMES[type]
  if (times === undefined) return valueEnd(body, at)
  const length = body[at] ?? -1
  return times.includes(length) ? at + 1 + length : -1
}

/**
 * Authentication methods that the library knows (mysql2, `standardAuthPlugins`). It refuses the last one, the
 * bare password.
 */
const WAYS: readonly string[] = [
  ...['mysql_native_password', 'caching_sha2_password', 'sha256_password'],
  'mysql_clear_password',
]

/** @throws database_refused if the server asks for an authentication method that the library does not have */
function requireAuthMethod(body: Buffer): void {
  const [way = ''] = body.toString('latin1', 1).split('\0', 1)
  if (WAYS.includes(way)) return
  throw new RuntimeError(
    'database_refused',
    `The server asks for a way to sign in that Keyway does not have (${cut(way || 'mysql_old_password', 40)}): give the app a user that signs in by mysql_native_password or caching_sha2_password`,
    { wire: 'unauthenticated', appErrorCode: '1251' },
  )
}

/** Packets of one connection. */
export type Shape = {
  /** Notes a packet that the library sends. */
  sent(packet: Buffer): void
  /** Judges a packet. Returns null if it is malformed or unexpected. */
  judge(packet: Buffer): Judged | null
  isLoggedIn(): boolean
}

export function createShape(): Shape {
  let state: State = { at: 'login' }
  let number = 0
  const idle: State = { at: 'idle' }

  const judged = (next: State, values = 0, isItem = false): Judged => {
    state = next
    return { values, isItem, passes: true }
  }
  const refusal = (body: Buffer): Judged | null => (body.length < 3 ? null : judged(idle))
  const confirmed = (body: Buffer): Judged | null => {
    if (body[0] === OK) return body.length < 7 ? null : judged(idle)
    return body[0] === REFUSED ? refusal(body) : null
  }
  const definitions = (count: number, more: number): State =>
    count > 0
      ? { at: 'columns', left: count, types: [], next: more > 0 ? 'definitions' : 'nothing', more }
      : more > 0
        ? definitions(more, 0)
        : idle

  const READERS: {
    [K in State['at']]: (now: Extract<State, { at: K }>, body: Buffer) => Judged | null
  } = {
    login(now, body) {
      const first = body[0]
      if (first === END) requireAuthMethod(body)
      return first === MORE || first === END ? judged(now) : confirmed(body)
    },
    idle: () => null,
    answer({ form }, body) {
      if (body[0] === OK || body[0] === REFUSED) return confirmed(body)
      // Also refuses a request for a local file, which does not begin with a length.
      const count = lengthAt(body, 0)
      if (count === null || count.next !== body.length) return null
      if (count.value < 1 || count.value > MAX_COLUMNS) return null
      const { value: left } = count
      return judged({ at: 'columns', left, types: [], next: form, more: 0 })
    },
    prepared(_now, body) {
      if (body[0] === REFUSED) return refusal(body)
      if (body[0] !== OK || body.length !== 12) return null
      return judged(definitions(body.readUInt16LE(7), body.readUInt16LE(5)))
    },
    confirmation: (_now, body) => confirmed(body),
    columns(now, body) {
      const type = columnType(body)
      if (type === -1) return null
      now.types.push(type)
      const left = now.left - 1
      const { types, next, more } = now
      if (left > 0) return judged({ at: 'columns', left, types, next, more }, 1)
      return judged({ at: 'columns-end', types, next, more }, 1)
    },
    'columns-end'({ types, next, more }, body) {
      if (body[0] !== END || body.length >= END_BYTES) return null
      if (next === 'nothing') return judged(idle)
      if (next === 'definitions') return judged(definitions(more, 0))
      return judged({ at: 'rows', types, form: next })
    },
    rows(now, body) {
      if (body[0] === END && body.length < END_BYTES) return body.length < 5 ? null : judged(idle)
      if (body[0] === REFUSED) return refusal(body)
      const { types, form } = now
      const fits = form === 'text' ? isTextRow(body, types.length) : isBinaryRow(body, types)
      return fits ? judged(now, types.length, true) : null
    },
  }

  return {
    sent(packet) {
      const command = packet[3] === 0 ? packet[HEAD_BYTES] : undefined
      if (state.at === 'login' || command === undefined) return
      const next = COMMANDS[command]
      if (!next) return
      state = next
      number = 1
    },
    judge(packet) {
      if (state.at !== 'login') {
        if (packet[3] !== number) return null
        number = (number + 1) & 255
      }
      const body = packet.subarray(HEAD_BYTES)
      // The cast: a reader takes the state that it is named after.
      const read = READERS[state.at] as (now: State, body: Buffer) => Judged | null
      return read(state, body)
    },
    isLoggedIn: () => state.at !== 'login',
  }
}
