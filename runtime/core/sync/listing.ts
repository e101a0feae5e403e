/**
 * Walks a listing of a connector page by page. Memory holds the pages being written, and at most as many that
 * arrived since (ahead.ts).
 */

import type { CapabilityName } from '../../contract/capabilities/capabilities.ts'
import { rowsOfTable, type TableOf } from '../../contract/schema/table.ts'
import type { Db } from '../../database/database.ts'
import { callApp } from '../catalogue/apps/connections.ts'
import { recordRecovery } from '../catalogue/apps/outages.ts'
import { responseAs } from '../kernel/context/connectors.ts'
import { type FetchedPage, readAhead } from './ahead.ts'
import { SyncFailure, syncFailureOf } from './failures.ts'
import { writeInOrder } from './ordered-writes.ts'
import { countPage, endlessListingMessage } from './repeats.ts'
import { added, checkpoint, countedBefore, type Progress, toNext, type Walk } from './runs.ts'

type Written = { written: number; repeated: number } & Record<string, number>

/** Rows to write, from listed ones. `repeats` is true if a row was listed twice; the last one counts. */
export type PreparedRows<R> = { rows: R; left_out: number; repeats: boolean }

/** A kind of listing. `T` is a listed row, `R` the rows to write, and `A` a page in the buffer. */
export type SyncListing<T extends object, R, A = T[]> = {
  capability: CapabilityName
  request(walk: Walk): Record<string, unknown>
  /** Members of rows that `arrive` reads, or all if absent. */
  reads?(walk: Walk): readonly (keyof T & string)[]
  /** Converts a page to its buffered form on arrival, while others are written. */
  arrive(walk: Walk, found: TableOf<T>): A
  /** Returns the rows to write for listed pages. */
  prepare(walk: Walk, arrived: readonly A[], isNew: boolean): PreparedRows<R>
  /** Writes rows and returns counts: the rows `written`, and how many of them this run had written before. */
  write(tx: Db, walk: Walk, rows: R, expected: { isNew: boolean }): Promise<Written>
  /** Called after the transaction that wrote rows as new ones. */
  made?(walk: Walk, rows: R): void
  /** Called in the transaction of the last page, to handle rows that were not listed. */
  end?(tx: Db, walk: Walk): Promise<void>
}

/** Implements `arrive` by buffering a page as rows. */
export const asRows = <T extends object>(_walk: Walk, found: TableOf<T>): T[] => rowsOfTable(found)

/** Maximum number of restarts of a phase whose page token has become invalid. */
const MAX_RESTARTS = 5

/** Reports whether the connector of a walk's app has a capability now. @throws SyncFailure if it is not served */
export function walkOffers({ parts, app }: Walk, capability: CapabilityName): boolean {
  const connector = app.connectorId === null ? null : parts.connectors.find(app.connectorId)
  if (!connector)
    throw new SyncFailure(
      `The connector ${app.connectorId} is not served; install or enable it (keyway list)`,
    )
  return Object.hasOwn(connector.manifest.capabilities, capability)
}

/** Fetches one page. @throws SyncFailure */
export async function fetchPage<T extends object>(
  walk: Walk,
  capability: CapabilityName,
  request: Record<string, unknown>,
  token: string | null,
  reads: readonly string[] | null = null,
): Promise<FetchedPage<TableOf<T>>> {
  const { parts, app, run } = walk
  const page = { token, size: run.pageSize }
  const how = { asTable: reads ?? true }
  const answer = await callApp(parts, app, capability, { request, page }, how)
  if (!answer.ok) throw syncFailureOf(capability, answer)
  if (walk.gate.probe) {
    walk.gate.probe = null
    await recordRecovery(walk.db, app, await parts.now(walk.db), parts.tell)
  }
  const found = responseAs<TableOf<T>>(answer)
  const next = answer.page?.token ?? null
  return { found, count: found.count, token: next, bytes: answer.bytes ?? 0 }
}

/** Walks the listing of the run's phase from its checkpoint to its end, or until the walk is over. */
export async function walkListing<T extends object, R, A>(
  walk: Walk,
  listing: SyncListing<T, R, A>,
): Promise<void> {
  const { capability } = listing
  const { run } = walk
  if (run.pageToken === null && !walkOffers(walk, capability)) return skip(walk)
  const request = listing.request(walk)
  const reads = listing.reads?.(walk)
  const ahead = readAhead<TableOf<T>, A>({
    fetch: (token) => fetchPage<T>(walk, capability, request, token, reads),
    arrive: (found) => listing.arrive(walk, found),
    token: run.pageToken,
    goesOn: () => !walk.over(),
  })
  const isNew = countedBefore(run, run.phase) === 0 && run.restarts === 0
  const batches = writeInOrder({ isNew })
  try {
    for (;;) {
      const pages = await ahead.take(batches.written())
      const token = pages.at(-1)?.token
      if (token === undefined) break
      await batches.write(async (isNew, before) => {
        const steps = prepare(walk, listing, pages, isNew)
        const write = async (tx: Db) => {
          const counted = await writePages(tx, walk, listing, steps, { isNew, before })
          if (token === null) await listing.end?.(tx, walk)
          return token === null ? { ...toNext(walk), counted } : { pageToken: token, counted }
        }
        await checkpoint(walk, write, { isBeside: isNew })
        if (isNew) for (const { rows } of steps) listing.made?.(walk, rows)
      })
      if (token === null) break
    }
    await batches.written()
  } catch (error) {
    ahead.stop()
    // The pages before a failed one are written. An error in writing them takes precedence.
    const first = await batches.written().then(
      () => error,
      (failure: unknown) => failure,
    )
    await restart(walk, first)
  }
}

/** Pages written by one statement. */
type Step<R> = PreparedRows<R> & { pages: number; listed: number; isLast: boolean }

/**
 * Prepares pages that arrived together. If a row is listed twice, each page is prepared by itself, as if it
 * had arrived alone.
 */
function prepare<T extends object, R, A>(
  walk: Walk,
  listing: SyncListing<T, R, A>,
  pages: readonly FetchedPage<A>[],
  isNew: boolean,
): Step<R>[] {
  const arrived = pages.map(({ found }) => found)
  const prepared = listing.prepare(walk, arrived, isNew)
  if (prepared.repeats && pages.length > 1)
    return pages.flatMap((page) => prepare(walk, listing, [page], isNew))
  const isLast = pages.at(-1)?.token === null
  const listed = pages.reduce((sum, { count }) => sum + count, 0)
  return [{ ...prepared, pages: pages.length, listed, isLast }]
}

/**
 * Writes rows, and counts them after all earlier rows are written.
 *
 * @throws SyncFailure, and the error of `before`
 */
async function writePages<T extends object, R, A>(
  tx: Db,
  walk: Walk,
  listing: SyncListing<T, R, A>,
  steps: readonly Step<R>[],
  { isNew, before }: { isNew: boolean; before: Promise<void> },
): Promise<Record<string, number>> {
  const { run } = walk
  let all: Record<string, number> = {}
  for (const [n, { rows, left_out, pages, listed, isLast }] of steps.entries()) {
    const { written, repeated, ...more } = await listing.write(tx, walk, rows, { isNew })
    await before
    all = added(all, {
      ...{ [run.phase]: written, rows: listed, pages, left_out },
      ...countPage(added(run.counts, all), {
        ...{ phase: run.phase, written, repeated, pages, isLast },
        isFirst: run.pageToken === null && n === 0,
      }),
      ...more,
    })
    refuseEndlessListing(walk, added(run.counts, all))
  }
  return all
}

const skip = (walk: Walk): Promise<void> =>
  checkpoint(walk, async () => ({
    ...toNext(walk),
    skipped: [...walk.run.skipped, walk.run.phase],
  }))

/** Fails if a listing seems endless. @throws SyncFailure */
export function refuseEndlessListing(
  { run, settings }: Walk,
  counts: Record<string, number>,
): void {
  const words =
    (counts['rows'] ?? 0) > settings.maxRows
      ? `The listing of ${run.phase} has more than ${settings.maxRows} rows in total; raise max_rows in the app’s sync settings if that is correct`
      : endlessListingMessage(counts, run.phase, settings.maxRepeatedPercent)
  if (words !== null) throw new SyncFailure(words, { final: true })
}

/**
 * Restarts the phase if its page token has become invalid: the upstream forgot it, or the connector version
 * that made it was removed. Rows already written are written again.
 *
 * @throws the given error if it has another cause, and SyncFailure after too many restarts
 */
async function restart(walk: Walk, error: unknown): Promise<void> {
  const isToken = error instanceof SyncFailure && error.code === 'invalid_page_token'
  const { run } = walk
  if (!isToken || (run.pageToken === null && run.cursor === null)) throw error
  if (run.restarts >= MAX_RESTARTS)
    throw new SyncFailure(`${error.message}; it was restarted ${MAX_RESTARTS} times`, {
      final: true,
    })
  const progress: Progress = {
    pageToken: null,
    cursor: null,
    restarts: run.restarts + 1,
    counted: { restarts: 1 },
  }
  await checkpoint(walk, async () => progress)
}
