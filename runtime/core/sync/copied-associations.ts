/** Associations of known accounts in the format of COPY: PostgreSQL needs no lookups and parses no text. */
import { numberField, uuidField } from '../../database/copy-fields.ts'
import { BINARY_END, BINARY_HEADER } from '../../database/copy-in.ts'
import type { KnownAccounts } from './known-accounts.ts'
import { UUID_BYTES } from './storable-texts.ts'

export const COPY_ASSOCIATIONS =
  'copy associations (app_id, account_id, entitlement_id, seen_run, first_run) from stdin (format binary)'

const COUNT_BYTES = 2
const LENGTH_BYTES = 4
const NUMBER_BYTES = 8
const ACCOUNT_AT = COUNT_BYTES + LENGTH_BYTES + UUID_BYTES + LENGTH_BYTES
const ENTITLEMENT_AT = ACCOUNT_AT + UUID_BYTES + LENGTH_BYTES
const ROW_BYTES = ENTITLEMENT_AT + NUMBER_BYTES + 2 * (LENGTH_BYTES + NUMBER_BYTES)

const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Returns a template row with zeros for account and entitlement. */
function blankRow(appId: string, runId: number): Buffer {
  return Buffer.concat([
    Buffer.from([0, 5]),
    uuidField(appId),
    uuidField(NO_ID),
    numberField(0),
    numberField(runId),
    numberField(runId),
  ])
}

/** Returns the size of the rows of `count` associations, in bytes. */
export const bytesOfRows = (count: number): number =>
  BINARY_HEADER.length + count * ROW_BYTES + BINARY_END.length

/** Upper bound on the number of rows in a batch. */
const PLACES = 2 ** 22

/**
 * Sorts pairs by account place, which is the order of account ids, so that neighbouring rows go into the same
 * pages of the table's index. Each key is the account's place times `PLACES`, plus the index of the pair.
 */
function inOrder(accounts: readonly number[]): Float64Array {
  const keys = new Float64Array(accounts.length)
  for (let n = 0; n < keys.length; n += 1) keys[n] = (accounts[n] ?? 0) * PLACES + n
  return keys.sort()
}

/**
 * Builds the rows of associations that a run found.
 *
 * @param room at least `bytesOfRows` of the pairs; the result is a part of it
 *
 * @param pairs for each, the place of the account among the known ones, and the place of the entitlement
 * @param ids ids of entitlements by place; missing entitlements have none, and their pairs are left out
 */
export function associationRows(
  { appId, runId, known }: { appId: string; runId: number; known: KnownAccounts },
  pairs: { accounts: readonly number[]; entitlements: readonly number[] },
  ids: ReadonlyMap<number, number>,
  room: Buffer = Buffer.allocUnsafe(bytesOfRows(pairs.accounts.length)),
): { rows: Buffer; count: number } {
  const begin = BINARY_HEADER.copy(room)
  const of = { accounts: known.ids(), blank: blankRow(appId, runId), ids }
  const count = writeAll(room, begin, inOrder(pairs.accounts), pairs.entitlements, of)
  const end = begin + count * ROW_BYTES
  return { rows: room.subarray(0, end + BINARY_END.copy(room, end)), count }
}

type Given = { accounts: Uint8Array; blank: Buffer; ids: ReadonlyMap<number, number> }

// The loop is a separate function. V8 compiles it before the code after a loop has run, and would discard the
// compiled code at the end of each batch. Iterating over the keys would create an object for each.

/** Writes the rows of pairs, and returns their number. */
function writeAll(
  room: Buffer,
  begin: number,
  keys: Float64Array,
  entitlements: readonly number[],
  { accounts, blank, ids }: Given,
): number {
  let at = begin
  for (let n = 0; n < keys.length; n += 1) {
    const key = keys[n] ?? 0
    const account = Math.floor(key / PLACES)
    const id = ids.get(entitlements[key - account * PLACES] ?? 0)
    if (id === undefined) continue
    for (let k = 0; k < ROW_BYTES; k += 1) room[at + k] = blank[k] ?? 0
    const from = account * UUID_BYTES
    for (let k = 0; k < UUID_BYTES; k += 1) room[at + ACCOUNT_AT + k] = accounts[from + k] ?? 0
    room.writeUInt32BE(Math.floor(id / 2 ** 32), at + ENTITLEMENT_AT)
    room.writeUInt32BE(id >>> 0, at + ENTITLEMENT_AT + 4)
    at += ROW_BYTES
  }
  return (at - begin) / ROW_BYTES
}
