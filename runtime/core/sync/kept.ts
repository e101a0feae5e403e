/** What of a connector's texts the database keeps. */
import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { isKeepable, keptText } from '../kernel/kept-text.ts'

/** Longest id of anything else. */
export const MAX_ID = 4096
/** Longest other text. */
const MAX_TEXT = 4096

/** A text that a system lists, as the database keeps it; NUL in it says nothing. */
export const listedText = (text: string, most: number = MAX_TEXT): string =>
  keptText(text.includes('\u0000') ? text.replaceAll('\u0000', '') : text, most)

/** An id of a resource; empty for the global one. */
export const isResourceId = (id: string): boolean => id === '' || isKeepable(id, MAX_ID)

/** Joins what a key is made of; no id that is kept holds it at a place where it could be mistaken. */
const BETWEEN = '\u0001'

/** What an entitlement is known by. */
export const entitlementKey = (one: {
  integration_specific_resource_id: string
  integration_specific_id: string
}): string => one.integration_specific_resource_id + BETWEEN + one.integration_specific_id

/** Bytes of an id. */
export const UUID_BYTES = 16
/** Ids that one millisecond has numbers for. */
const IN_ONE_MS = 2 ** 12

/**
 * Ids that grow with time, and each is greater than the one before (UUIDv7, RFC 9562, section 6.2: where the counter has
 * no more numbers, the next millisecond is used). Rows that come together lie together in the indexes, which random ones
 * would spread over millions of rows.
 *
 * @returns the bytes of one id behind the other
 */
export function timeOrderedIds(count: number, nowMs: number): Buffer {
  const ids = randomBytes(count * UUID_BYTES)
  for (let n = 0; n < count; n += 1) {
    const at = n * UUID_BYTES
    ids.writeUIntBE(nowMs + Math.floor(n / IN_ONE_MS), at, 6)
    // The version, and the variant's bits.
    ids.writeUInt16BE(0x7000 + (n % IN_ONE_MS), at + 6)
    ids[at + 8] = ((ids[at + 8] ?? 0) & 0x3f) | 0x80
  }
  return ids
}

/**
 * Append to a lateral lookup by a unique key. While a table grows fast, the planner's statistics are outdated: it would
 * expect only a few rows of this run and scan all of them for each row of a page. The limit prevents that plan.
 */
export const EACH_BY_KEY: SQL = sql`limit 1`

/**
 * Whether a row returned by an upsert was inserted. If all rows of a page were, there is no need to look up which ones
 * this run wrote before.
 */
export const WAS_NEW: SQL = sql`xmax = 0`

/** What of some listed rows is written: the last of each key among those that can be kept. */
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

/** The last of those with one key: a statement must not touch a row twice. */
export function lastOfEach<T>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  if (areAscending(rows, keyOf)) return [...rows]
  const last = new Map<string, T>()
  for (const row of rows) last.set(keyOf(row), row)
  return [...last.values()]
}

/** Whether each key is greater than the one before: most systems list so, and a map of long texts costs much more. */
function areAscending<T>(rows: readonly T[], keyOf: (row: T) => string): boolean {
  let before: string | null = null
  return rows.every((row) => {
    const key = keyOf(row)
    const isGreater = before === null || key > before
    before = key
    return isGreater
  })
}
