/**
 * Judges PostgreSQL messages before the library reads them. Lengths that do not add up make it read forever.
 *
 * Source: PostgreSQL, chapter 55.7 (message formats).
 */
import { isUtf8 } from 'node:buffer'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Judged } from '../wire/guard.ts'

/** Size of a message's type and length, in bytes. */
const HEAD_BYTES = 5

/**
 * Returns the size of the message at an offset, in bytes; `short` if its head is incomplete, null if its
 * length is invalid.
 */
export function sizeOf(bytes: Buffer, at = 0): number | 'short' | null {
  if (bytes.length - at < HEAD_BYTES) return 'short'
  const length = bytes.readUInt32BE(at + 1)
  return length < 4 ? null : 1 + length
}

/** Returns the number of values in a body, or -1 if it is malformed. */
type Reader = (body: Buffer) => number

const EMPTY: Reader = (body) => (body.length === 0 ? 0 : -1)
const bytes =
  (count: number): Reader =>
  (body) =>
    body.length === count ? 0 : -1
const texts =
  (count: number): Reader =>
  (body) => {
    let at = 0
    for (let index = 0; index < count; index += 1) {
      const end = body.indexOf(0, at)
      if (end === -1) return -1
      at = end + 1
    }
    return at === body.length ? count : -1
  }

/** Pairs of a type byte and a text, up to a zero byte. */
const fields: Reader = (body) => {
  let count = 0
  for (let at = 0; at < body.length; ) {
    if (body[at] === 0) return at === body.length - 1 ? count : -1
    const end = body.indexOf(0, at + 1)
    if (end === -1) return -1
    at = end + 1
    count += 1
  }
  return -1
}

const columns: Reader = (body) => {
  if (body.length < 2) return -1
  const count = body.readInt16BE(0)
  let at = 2
  for (let index = 0; index < count; index += 1) {
    const end = body.indexOf(0, at)
    if (end === -1) return -1
    at = end + 1 + 18
  }
  return count >= 0 && at === body.length ? count : -1
}

/**
 * Error for text that is not UTF-8. The name and comment of a role have the encoding of the database in which
 * they were written, and the server returns them unchanged. Decoded with U+FFFD, two names may become equal.
 */
const notUtf8 = (): RuntimeError =>
  new RuntimeError(
    'upstream_garbled',
    'The server answered with text that is not UTF-8: a name or a comment was written in a database of another encoding. Connect the app to a database of that encoding, or write it anew in this one',
    { appErrorCode: '22021' },
  )

/** @throws upstream_garbled for a value that is not UTF-8 */
const row: Reader = (body) => {
  if (body.length < 2) return -1
  const count = body.readInt16BE(0)
  let at = 2
  for (let index = 0; index < count; index += 1) {
    if (at + 4 > body.length) return -1
    const length = body.readInt32BE(at)
    if (length < -1) return -1
    at += 4
    if (length <= 0) continue
    if (!isUtf8(body.subarray(at, at + length))) throw notUtf8()
    at += length
  }
  return count >= 0 && at === body.length ? count : -1
}

const SASL = 10

/**
 * Authentication methods that the library has (pg 8): none, password, MD5, and SASL with its later messages.
 */
const WAYS: readonly number[] = [0, 3, 5, SASL, 11, 12]
/** Other methods that a server may be configured for (pg_hba.conf). */
const OTHER_WAYS: Readonly<Record<number, string>> = { 2: 'krb5', 7: 'gss', 9: 'sspi' }

/** @throws database_refused for an authentication method that the library does not have */
const authentication: Reader = (body) => {
  if (body.length < 4) return -1
  const way = body.readInt32BE(0)
  if (!WAYS.includes(way))
    throw new RuntimeError(
      'database_refused',
      `The server asks for a way to sign in that Keyway does not have (${OTHER_WAYS[way] ?? way}): let pg_hba.conf ask this role for scram-sha-256`,
      { wire: 'unauthenticated', appErrorCode: '28000' },
    )
  if (way !== SASL) return 0
  // Names of mechanisms, up to an empty one.
  let at = 4
  for (let end = body.indexOf(0, at); end !== at; end = body.indexOf(0, at)) {
    if (end === -1) return -1
    at = end + 1
  }
  return at === body.length - 1 ? 0 : -1
}

type Kind = { reads: Reader; isItem?: true; isSilent?: true }

/** Messages that a server sends, by their letter. COPY is not supported, so its messages are missing. */
const KINDS: Readonly<Record<string, Kind>> = {
  R: { reads: authentication },
  S: { reads: texts(2) },
  K: { reads: bytes(8) },
  Z: { reads: bytes(1) },
  E: { reads: fields },
  // Notices and notifications are dropped.
  N: { reads: fields, isSilent: true },
  A: { reads: () => 0, isSilent: true },
  '1': { reads: EMPTY },
  '2': { reads: EMPTY },
  '3': { reads: EMPTY },
  n: { reads: EMPTY },
  s: { reads: EMPTY },
  I: { reads: EMPTY },
  t: {
    reads: (body) => (body.length >= 2 && body.length === 2 + 4 * body.readUInt16BE(0) ? 0 : -1),
  },
  T: { reads: columns },
  D: { reads: row, isItem: true },
  C: { reads: texts(1) },
}

/** Judges a message. Returns null if it is malformed, or of a kind that no client receives. */
export function judgeMessage(message: Buffer): Judged | null {
  const letter = String.fromCharCode(message[0] ?? 0)
  const kind = Object.hasOwn(KINDS, letter) ? KINDS[letter] : undefined
  const values = kind?.reads(message.subarray(HEAD_BYTES)) ?? -1
  if (kind === undefined || values === -1) return null
  return { values, isItem: kind.isItem === true, passes: kind.isSilent !== true }
}
