/** Table sizes and numbers of expired rows. Every query is limited in rows and time. */

import { sql } from 'drizzle-orm'
import {
  type DoctorFinding,
  MAX_ROWS_COUNTED,
  type TableSize,
} from '../contract/endpoints/doctor.ts'
import { codeOf } from '../contract/errors/thrown.ts'
import { isKeyOf } from '../contract/schema/keys.ts'
import { membersOf } from '../contract/schema/record.ts'
import { inShortTransaction } from '../core/measures/measures.ts'
import { BOUNDED } from '../core/retention/bounded.ts'
import { isPrunable } from '../core/retention/prune.ts'
import {
  KEPT_OTHERWISE,
  type KeptDays,
  REMOVED_ELSEWHERE,
  RETENTION,
  retentionOf,
} from '../core/retention/rules.ts'
import type { Db } from '../database/database.ts'
import { JOBS_SCHEMA } from '../database/jobs.ts'
import { formatBytes } from './sizes.ts'

/** Returns the tables, largest first. */
export async function tableSizes(db: Db, kept: KeptDays): Promise<TableSize[]> {
  const { rows } = await inShortTransaction(db, (tx) =>
    tx.execute<{ schema: string; name: string; bytes: string; estimate: string }>(sql`
      select n.nspname as schema, c.relname as name, pg_total_relation_size(c.oid)::text as bytes,
        greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)::bigint::text as estimate
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname in ('public', ${JOBS_SCHEMA})
      order by pg_total_relation_size(c.oid) desc, c.relname`),
  )
  const sizes: TableSize[] = []
  for (const { schema, name, bytes, estimate } of rows) {
    const table = sql`${sql.identifier(schema)}.${sql.identifier(name)}`
    const counted = (await upTo(db, sql`select from ${table}`)) ?? MAX_ROWS_COUNTED
    sizes.push({
      table: schema === 'public' ? name : `${schema}.${name}`,
      rows: counted < MAX_ROWS_COUNTED ? counted : Math.max(counted, Number(estimate)),
      bytes: Number(bytes),
      ...(await keptOf(db, schema === 'public' ? name : '', kept)),
    })
  }
  return sizes
}

async function keptOf(
  db: Db,
  name: string,
  kept: KeptDays,
): Promise<Pick<TableSize, 'kept_days' | 'kept' | 'over'>> {
  if (name === '' || name === 'activity_logs') {
    const own = name === '' ? 'jobs' : name
    const days = kept[own]
    const how = days === null ? 'for ever' : `${days} days; ${REMOVED_ELSEWHERE[own].stays} stay`
    return { kept_days: null, kept: how, over: null }
  }
  if (!isKeyOf(RETENTION, name)) {
    const bound = KEPT_OTHERWISE[name] ?? BOUNDED[name] ?? ''
    return { kept_days: null, kept: bound, over: null }
  }
  const goes = isPrunable(name, kept[name])
  const over = await upTo(db, sql`select from ${sql.identifier(name)} where ${goes}`)
  return { kept_days: kept[name], kept: `${retentionOf(name).stays} stay`, over }
}

/** Counts the rows of a query, up to MAX_ROWS_COUNTED. Null if that takes too long. */
async function upTo(db: Db, query: ReturnType<typeof sql>): Promise<number | null> {
  try {
    const { rows } = await inShortTransaction(db, (tx) =>
      tx.execute<{ n: number }>(
        sql`select count(*)::int as n from (${query} limit ${MAX_ROWS_COUNTED}) counted`,
      ),
    )
    return rows[0]?.n ?? 0
  } catch (error) {
    // 57014: query_canceled, by the statement timeout.
    if ((codeOf(error) ?? codeOf(membersOf(error)['cause'])) === '57014') return null
    throw error
  }
}

/** Returns the finding for all tables. */
export function tablesFinding(tables: readonly TableSize[]): DoctorFinding {
  const bytes = tables.reduce((sum, one) => sum + one.bytes, 0)
  const largest = tables.slice(0, 3).map((one) => `${one.table} ${formatBytes(one.bytes)}`)
  const behind = tables.filter(({ over }) => over === MAX_ROWS_COUNTED).map(({ table }) => table)
  const what = `${tables.length} tables take ${formatBytes(bytes)}; the largest: ${largest.join(', ')}`
  if (behind.length === 0) return { check: 'tables', state: 'good', what, advice: null }
  return {
    check: 'tables',
    state: 'look',
    what: `${what}; ${MAX_ROWS_COUNTED} or more expired rows wait to be removed from ${behind.join(', ')}`,
    advice:
      'wait: they are removed within hours; `keyway jobs --queue retention` shows whether this works',
  }
}
