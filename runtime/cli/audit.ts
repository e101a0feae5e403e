/** `keyway audit verify`: checks that the activity log was not changed. */

import { drizzle } from 'drizzle-orm/node-postgres'
import { Client } from 'pg'
import { type Config, ConfigError, readConfig } from '../config/config.ts'
import { type Verification, verifyActivity } from '../core/kernel/audit/chain.ts'
import {
  type ConnectedDatabase,
  connectOrStart,
  NoDatabaseError,
} from '../database/connect-or-start.ts'
import { PASSWORD_FILE } from '../database/server-place.ts'
import { existingSecret } from '../secrets/secret-files.ts'
import { terminalJson } from './terminal/json.ts'
import { progressLine } from './terminal/progress.ts'

export async function auditVerify({ head, json }: { head?: string; json?: true }): Promise<void> {
  if (head !== undefined && !/^[0-9a-f]{128}$/.test(head))
    throw new ConfigError('--head: a hash has 128 hex digits, as an earlier run printed it')
  const server = await connectionOf(readConfig(process.env))
  const client = new Client(server.connection)
  client.on('error', () => {})
  try {
    await client.connect().catch((cause) => {
      throw new ConfigError(`the database cannot be reached: ${cause.message}`, { cause })
    })
    // A deployment has one domain.
    const { rows } = await client.query('select id from domains order by created_at').catch(() => {
      throw new ConfigError('the database has no activity log of Keyway: no host has run on it yet')
    })
    const line = progressLine()
    let verdict: Verification | null = null
    for (const { id } of rows) {
      verdict = await verifyActivity(drizzle(client), id, {
        ...(head === undefined ? {} : { find: head }),
        onRows: (count) => line.show(`${count} rows are intact`),
      })
      line.clear()
      if (verdict.broken) process.exitCode = 1
      if (!json) tell(verdict)
    }
    if (json && verdict) console.log(terminalJson(answerOf(verdict, head)))
    if (head !== undefined && !verdict?.found) {
      if (!json)
        console.error(
          `No row has the hash ${head}: rows at the end were removed, or the hash is from another log.`,
        )
      process.exitCode = 1
    } else if (head !== undefined && !verdict?.broken && !json)
      console.log(
        `The log has the row with the hash ${head}: up to it, nothing was removed or changed.`,
      )
  } finally {
    await client.end()
    await server.release()
  }
}

async function connectionOf({
  databaseUrl,
  dataDir,
}: Config): Promise<Pick<ConnectedDatabase, 'connection' | 'release'>> {
  if (databaseUrl !== '')
    return { connection: { connectionString: databaseUrl }, release: async () => {} }
  const password = await existingSecret(dataDir, PASSWORD_FILE)
  return connectOrStart(dataDir, password, console.error).catch((error) => {
    throw error instanceof NoDatabaseError
      ? new ConfigError(error.message, { cause: error })
      : error
  })
}

function answerOf(
  { rows, removed, head, broken, found, waiting, erased, redacted }: Verification,
  wanted?: string,
) {
  const place = broken && {
    id: broken.id,
    event_type: broken.eventType,
    began_at: broken.beganAt.toISOString(),
  }
  return {
    rows,
    removed,
    head,
    waiting,
    erased,
    redacted,
    broken: place,
    ...(wanted === undefined ? {} : { head_found: found }),
  }
}

function tell({ rows, removed, head, broken, waiting, erased, redacted }: Verification): void {
  if (broken) {
    const { id, eventType, beganAt } = broken
    console.error(
      `The log is broken at row ${id} (${eventType}, ${beganAt.toISOString()}), after ${rows} intact rows: that row was changed or inserted, or rows just before it were removed.`,
    )
    return
  }
  console.log(`The log is intact: ${rows} rows.`)
  if (rows > 0) {
    console.log(`Its last hash is ${head}`)
    console.log(
      'Store it elsewhere: --head with this hash later shows whether the end was cut off.',
    )
  }
  if (removed > 0)
    console.log(
      `${removed} older rows were removed according to KEYWAY_RETENTION; the log continues from their last hash.`,
    )
  if (erased > 0)
    console.log(`${erased} personal values were erased; the log is intact without them.`)
  if (redacted > 0)
    console.log(
      `Names were erased in ${redacted} rows, which keep their hashes; a later row has the digest of their new content.`,
    )
  if (waiting > 0)
    console.log(
      `${waiting} entries are not chained yet, and were not checked: a running host chains them within a second.`,
    )
}
