/** Normalization of a connector's texts for the database. */
import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { isKeepable, keptText } from '../kernel/kept-text.ts'

/** Maximum length of an id of anything but an account, in characters. */
export const MAX_ID = 4096
/** Maximum length of any other text, in characters. */
const MAX_TEXT = 4096

/** Returns a listed text as the database stores it. NUL, which means nothing in it, is removed. */
export const listedText = (text: string, most: number = MAX_TEXT): string =>
  keptText(text.includes('\u0000') ? text.replaceAll('\u0000', '') : text, most)

/** Reports whether a text is the id of a resource. It is empty for the global one. */
export const isResourceId = (id: string): boolean => id === '' || isKeepable(id, MAX_ID)

/** Separator of the parts of a key. No stored id contains it at a position where it would be ambiguous. */
const BETWEEN = '\u0001'

/** Returns the key that identifies an entitlement. */
export const entitlementKey = (one: {
  integration_specific_resource_id: string
  integration_specific_id: string
}): string => one.integration_specific_resource_id + BETWEEN + one.integration_specific_id

/** Size of an id, in bytes. */
export const UUID_BYTES = 16
/** Number of ids per millisecond. */
const IN_ONE_MS = 2 ** 12

/**
 * Returns ids that grow with time, each greater than the previous one (UUIDv7, RFC 9562, section 6.2: when
 * the counter is exhausted, the next millisecond is used). Rows that are created together are adjacent in the
 * indexes. Random ids would spread them over millions of rows.
 *
 * @returns the concatenated bytes of the ids
 */
export function timeOrderedIds(count: number, nowMs: number): Buffer {
  const ids = randomBytes(count * UUID_BYTES)
  for (let n = 0; n < count; n += 1) {
    const at = n * UUID_BYTES
    ids.writeUIntBE(nowMs + Math.floor(n / IN_ONE_MS), at, 6)
    // Version and counter here, and the bits of the variant below.
    ids.writeUInt16BE(0x7000 + (n % IN_ONE_MS), at + 6)
    ids[at + 8] = ((ids[at + 8] ?? 0) & 0x3f) | 0x80
  }
  return ids
}

/**
 * Condition: the row returned by an upsert was inserted. If all rows of a page were, there is no need to look
 * up which ones this run wrote before.
 */
export const WAS_NEW: SQL = sql`xmax = 0`

/** Returns the listed rows to write: of those that can be stored, the last one of each key. */
export function eachOf<T, R>(
  found: readonly T[],
  isKept: (row: T) => boolean,
  keyOf: (row: T) => string,
  toRow: (row: T, n: number) => R,
): { rows: R[]; left_out: number; repeats: boolean } {
  const kept = found.filter(isKept)
  const each = lastOfEach(kept, keyOf)
  return {
    rows: each.map(toRow),
    left_out: found.length - kept.length,
    repeats: each.length < kept.length,
  }
}

/** Returns the last row of each key: a statement must not touch a row twice. */
export function lastOfEach<T>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  if (areAscending(rows, keyOf)) return [...rows]
  const last = new Map<string, T>()
  for (const row of rows) last.set(keyOf(row), row)
  return [...last.values()]
}

/**
 * Reports whether the keys are in ascending order. Most systems list so, and a map of long texts costs much
 * more.
 */
function areAscending<T>(rows: readonly T[], keyOf: (row: T) => string): boolean {
  let before: string | null = null
  return rows.every((row) => {
    const key = keyOf(row)
    const isGreater = before === null || key > before
    before = key
    return isGreater
  })
}
