/** COPY writes many rows at half of the server's cost of INSERT. */
import { finished } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { Db } from './database.ts'
import { connectionOf } from './prepared.ts'

/**
 * Writes rows within a transaction.
 *
 * @param text a statement `copy ... from stdin`
 * @param rows in the format that the statement reads
 * @throws the errors of PostgreSQL, as for an INSERT
 */
export async function copyIn(tx: Db, text: string, rows: Buffer): Promise<void> {
  const stream = connectionOf(tx).query(copyFrom(text))
  stream.end(rows)
  await finished(stream)
}

/** Header and trailer of the binary format (PostgreSQL, COPY, "Binary Format"). */
export const BINARY_HEADER: Buffer = Buffer.concat([
  Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'),
  Buffer.alloc(8),
])
export const BINARY_END: Buffer = Buffer.from([0xff, 0xff])
