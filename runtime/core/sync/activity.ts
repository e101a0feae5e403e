/** Last use of accounts, requested for a batch of accounts at a time, in the order of their ids. */
import { sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { rowsOfTable, type TableOf } from '../../contract/schema/table.ts'
import { isKeepable, MAX_ACCOUNT_ID } from '../kernel/kept-text.ts'
import type { FetchedPage } from './ahead.ts'
import { nextAccounts } from './batches.ts'
import { SyncFailure } from './failures.ts'
import { fetchPage, refuseEndlessListing, walkOffers } from './listing.ts'
import { added, checkpoint, toNext, type Walk } from './runs.ts'
import { lastOfEach } from './storable-texts.ts'

type Found = Output<'get_last_activity'>[number]

/** Number of accounts per call. */
const BATCH = 200

/**
 * Walks the accounts that the run has seen. A page token belongs to the batch of accounts after the cursor.
 */
export async function walkActivity(walk: Walk): Promise<void> {
  const { run } = walk
  if (run.cursor === null && !walkOffers(walk, 'get_last_activity')) {
    return checkpoint(walk, async () => ({
      ...toNext(walk),
      skipped: [...run.skipped, run.phase],
    }))
  }
  while (!walk.over()) {
    const ids = await nextAccounts(walk.db, walk, BATCH)
    const last = ids.at(-1)
    if (last === undefined) return checkpoint(walk, async () => toNext(walk))
    const { found, token } = await pageOf(walk, ids)
    const rows = rowsOfTable(found)
    await checkpoint(walk, async (tx) => {
      await write(tx, walk, rows)
      const idle = run.counts['idle_pages'] ?? 0
      const goesOn = token !== null
      const counted = { activity: rows.length, pages: 1, idle_pages: goesOn ? 1 : -idle }
      if (goesOn) refuseEndlessListing(walk, added(run.counts, counted))
      return token === null
        ? { pageToken: null, cursor: last, restarts: 0, counted }
        : { pageToken: token, counted }
    })
  }
}

/** Fetches a page for a batch of accounts. If the page token has become invalid, starts the batch again. */
async function pageOf(walk: Walk, ids: string[]): Promise<FetchedPage<TableOf<Found>>> {
  const request = { account_ids: ids }
  const { pageToken } = walk.run
  try {
    return await fetchPage<Found>(walk, 'get_last_activity', request, pageToken)
  } catch (error) {
    if (
      !(error instanceof SyncFailure) ||
      error.code !== 'invalid_page_token' ||
      pageToken === null
    )
      throw error
    return fetchPage<Found>(walk, 'get_last_activity', request, null)
  }
}

async function write(tx: Walk['db'], { app }: Walk, found: Found[]): Promise<void> {
  const rows = found.flatMap((one) => {
    const at = new Date(one.happened_at)
    const usable = isKeepable(one.account_id, MAX_ACCOUNT_ID) && !Number.isNaN(at.getTime())
    const column = one.event_type === 'last_login' ? 'login' : 'activity'
    return usable && at.getUTCFullYear() > 0 && at.getUTCFullYear() < 10_000
      ? [{ external: one.account_id, [column]: at.toISOString() }]
      : []
  })
  const each = lastOfEach(rows, (row) => row.external + ('login' in row ? ' l' : ' a'))
  await tx.execute(sql`
    update accounts set last_login = greatest(last_login, row.login),
      last_activity = greatest(last_activity, row.activity, row.login), updated_at = now()
    from (
      select external, max(login) as login, max(activity) as activity
      from json_to_recordset(${JSON.stringify(each)}::json)
        as row(external text, login timestamptz, activity timestamptz)
      group by external
    ) as row
    where accounts.app_id = ${app.id} and accounts.unique_identifier = row.external
      and (row.login is distinct from last_login or row.activity is distinct from last_activity)`)
}
