/** Stages the file's rows in a temporary table, where the database can compare a million of them at once. */
import { sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import type { StagedRow } from './row.ts'

/** Maximum number of rows, and of characters, per statement. Encoding them blocks the main thread. */
const BATCH = 5000
const BATCH_LENGTH = 1024 * 1024

/** Creates the temporary table of an import. The end of the transaction drops it. */
export async function makeStage(tx: Db): Promise<void> {
  await tx.execute(sql`
    create temporary table people_file (
      line int not null, email text not null,
      given_name text, family_name text, status text, manager_email text,
      groups text[], attributes jsonb not null
    ) on commit drop`)
}

/** Stages rows as they arrive. Memory holds one batch. */
export function createStage(tx: Db): { add(row: StagedRow): Promise<void>; end(): Promise<void> } {
  let batch: StagedRow[] = []
  let length = 0
  async function send(): Promise<void> {
    if (batch.length === 0) return
    const rows = JSON.stringify(batch)
    batch = []
    length = 0
    await tx.execute(sql`
      insert into people_file
      select * from json_to_recordset(${rows}::json) as row(
        line int, email text, given_name text, family_name text, status text,
        manager_email text, groups text[], attributes jsonb)`)
  }
  return {
    async add(row) {
      batch.push(row)
      length += lengthOf(row)
      if (batch.length >= BATCH || length >= BATCH_LENGTH) await send()
    },
    async end() {
      await send()
      // Only these columns are joined. The wide columns would be the slowest to analyse.
      await tx.execute(sql`analyze people_file (line, email, manager_email)`)
    },
  }
}

/** Returns the approximate length of a row as JSON, in characters. */
const lengthOf = (row: StagedRow): number =>
  Object.entries(row.attributes).reduce(
    (sum, [name, one]) => sum + name.length + String(one.value).length + 40,
    (row.groups ?? []).reduce((sum, name) => sum + name.length + 3, 300),
  )
