/** New accounts in the format of COPY, which takes PostgreSQL two thirds of the time of INSERT. */
import { sql } from 'drizzle-orm'
import { mapValues } from '../../contract/schema/keys.ts'
import {
  LENGTH_BYTES,
  mostBytesOf,
  NULL_FIELD,
  numberField,
  textField,
  textListField,
  uuidField,
  writeTextField,
} from '../../database/copy-fields.ts'
import { BINARY_END, BINARY_HEADER, copyIn } from '../../database/copy-in.ts'
import type { Db } from '../../database/database.ts'
import { arrayText } from './columns.ts'
import type { Walk } from './runs.ts'
import { UUID_BYTES } from './storable-texts.ts'

/** Text fields of accounts, in the order of their columns. */
const TEXTS = ['type', 'status', 'external', 'email', 'given', 'family'] as const

/** Accounts by column. `id` holds the concatenated bytes of Keyway's ids, and `attributes` holds JSON. */
export type AccountRows = { id: Uint8Array; external: readonly string[] } & Record<
  Exclude<(typeof TEXTS)[number], 'external'> | 'attributes',
  readonly (string | null)[]
>

const COLUMNS = [
  ...['id', 'domain_id', 'app_id', 'account_type', 'status', 'unique_identifier', 'email'],
  ...['given_name', 'family_name', 'attributes', 'user_id', 'matched_by'],
  ...['discovered_at', 'sources', 'seen_run'],
]
const COPY_ACCOUNTS = `copy accounts (${COLUMNS.join(', ')}) from stdin (format binary)`

/** Version byte at the beginning of the binary form of `jsonb`. */
const JSONB_VERSION = 1

/**
 * Maximum number of accounts written at once. A page may have many more, and rows are built in one turn of
 * the event loop.
 */
const MAX_BATCH_ROWS = 10_000

/**
 * Writes accounts that do not exist.
 *
 * @param byEmail whether to link them to the users with their addresses
 * @throws the error of PostgreSQL, such as for an account that exists
 */
export async function copyAccounts(
  tx: Db,
  walk: Walk,
  rows: AccountRows,
  byEmail: boolean,
): Promise<void> {
  const { length } = rows.external
  for (let from = 0; from < length; from += MAX_BATCH_ROWS)
    await copySome(tx, walk, someOf(rows, from, Math.min(length, from + MAX_BATCH_ROWS)), byEmail)
}

const someOf = (
  { id, external, ...texts }: AccountRows,
  from: number,
  to: number,
): AccountRows => ({
  id: id.subarray(from * UUID_BYTES, to * UUID_BYTES),
  external: external.slice(from, to),
  ...mapValues(texts, (one) => one.slice(from, to)),
})

async function copySome(
  tx: Db,
  { app, run, known }: Walk,
  rows: AccountRows,
  byEmail: boolean,
): Promise<void> {
  const { nowUs, users } = await usersOf(tx, app.domainId, byEmail ? rows.email : [])
  const same = {
    begin: Buffer.concat([uuidField(app.domainId), uuidField(app.id)]),
    end: Buffer.concat([numberField(nowUs), textListField(app.sources), numberField(run.id)]),
  }
  await known.withRoom(mostBytes(rows, same), (room) =>
    copyIn(tx, COPY_ACCOUNTS, accountRows(rows, same, users, room)),
  )
}

/**
 * Reads the users with the given addresses, by the position of the address, and the start of the transaction
 * in microseconds since 2000-01-01.
 */
async function usersOf(
  tx: Db,
  domainId: string,
  emails: readonly (string | null)[],
): Promise<{ nowUs: bigint; users: Map<number, string> }> {
  const { rows } = await tx.execute<{ now_us: string; users: [number, string][] }>(sql`
    select (extract(epoch from now() - timestamptz '2000-01-01 00:00:00Z') * 1000000)::bigint as now_us,
      (select coalesce(json_agg(json_build_array(row.n - 1, users.id)), '[]')
        from unnest(${arrayText(emails)}::text[]) with ordinality as row(email, n)
        join users on users.domain_id = ${domainId}
          and lower(users.email) = lower(row.email)) as users`)
  return { nowUs: BigInt(rows[0]?.now_us ?? 0), users: new Map(rows[0]?.users) }
}

/** Fields that all rows share, before and after the texts. */
type Same = { begin: Buffer; end: Buffer }

const COUNT = Buffer.from([0, COLUMNS.length])
const BY_NOBODY = Buffer.concat([NULL_FIELD, NULL_FIELD])
const BY_EMAIL = textField('EMAIL')

function mostBytes(rows: AccountRows, { begin, end }: Same): number {
  const each = COUNT.length + LENGTH_BYTES + UUID_BYTES + begin.length + end.length
  const user = LENGTH_BYTES + UUID_BYTES + BY_EMAIL.length
  let bytes = BINARY_HEADER.length + rows.external.length * (each + user + 1) + BINARY_END.length
  for (const name of [...TEXTS, 'attributes'] as const)
    for (const text of rows[name]) bytes += mostBytesOf(text)
  return bytes
}

function accountRows(
  rows: AccountRows,
  same: Same,
  users: ReadonlyMap<number, string>,
  room: Buffer,
): Buffer {
  const end = writeEach(room, BINARY_HEADER.copy(room), rows, same, users)
  return room.subarray(0, end + BINARY_END.copy(room, end))
}

/**
 * Writes the rows at an offset and returns their end. It is a separate function for the reason given in
 * copied-associations.ts.
 */
function writeEach(
  room: Buffer,
  from: number,
  rows: AccountRows,
  { begin, end }: Same,
  users: ReadonlyMap<number, string>,
): number {
  let at = from
  for (let n = 0; n < rows.external.length; n += 1) {
    at += COUNT.copy(room, at)
    at = room.writeInt32BE(UUID_BYTES, at)
    for (let k = 0; k < UUID_BYTES; k += 1) room[at + k] = rows.id[n * UUID_BYTES + k] ?? 0
    at = writeBytes(room, at + UUID_BYTES, begin)
    for (const name of TEXTS) at = writeTextField(room, at, rows[name][n] ?? null)
    at = writeJsonb(room, at, rows.attributes[n] ?? '{}')
    const user = users.get(n)
    if (user === undefined) at = writeBytes(room, at, BY_NOBODY)
    else at = writeBytes(room, writeBytes(room, at, uuidField(user)), BY_EMAIL)
    at = writeBytes(room, at, end)
  }
  return at
}

/** Writes a few bytes. `Buffer.copy` is slower for so few. */
function writeBytes(room: Buffer, at: number, bytes: Buffer): number {
  for (let k = 0; k < bytes.length; k += 1) room[at + k] = bytes[k] ?? 0
  return at + bytes.length
}

function writeJsonb(room: Buffer, at: number, json: string): number {
  const end = writeTextField(room, at + 1, json)
  // The length goes one byte earlier, and the version replaces the last byte of the text's length.
  room.writeInt32BE(end - at - LENGTH_BYTES, at)
  room[at + LENGTH_BYTES] = JSONB_VERSION
  return end
}
