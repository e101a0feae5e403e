/** Processing of uploads, each in one transaction, so that all of it or nothing is applied. */
import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { uploads } from '../../database/schema/uploads.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { applyAccounts } from './accounts.ts'
import { applyActivity } from './activity.ts'
import type { KeptUpload } from './kept-upload.ts'

export const UPLOAD_JOB: JobHandler = {
  handle: workThrough,
  async due(db) {
    const rows = await db
      .select({ id: uploads.id })
      .from(uploads)
      .where(isNull(uploads.finishedAt))
      .orderBy(uploads.createdAt)
      .limit(100)
    return rows.map(({ id }) => id)
  },
  gaveUp: (db, id, problem) =>
    db.transaction(async (tx) => {
      const upload = await lock(tx, id)
      if (upload) await finish(tx, upload, 'FAILURE', { problem })
    }),
}

const APPLY = { accounts: applyAccounts, activity: applyActivity }

const EVENTS = { accounts: 'ACCOUNTS_UPLOADED', activity: 'ACTIVITY_RECORDS_UPLOADED' } as const

async function workThrough(db: Db, id: string, { tell }: RequestContext): Promise<void> {
  await db
    .update(uploads)
    .set({ state: 'RUNNING' })
    .where(and(eq(uploads.id, id), isNull(uploads.finishedAt)))
  const failed = await db.transaction(async (tx) => {
    const upload = await lock(tx, id)
    if (!upload) return null
    const outcome = await APPLY[upload.kind](tx, upload)
    await finish(tx, upload, outcome.problem === undefined ? 'SUCCESS' : 'FAILURE', outcome)
    return outcome.problem === undefined ? null : upload
  })
  if (failed)
    tell(
      'warn',
      { upload: id, kind: failed.kind, app_id: failed.appId },
      'an upload failed, and nothing of it was kept; the activity log says why',
    )
}

/** All columns but the rows, which the driver would parse. */
const { body: _rows, ...columns } = getTableColumns(uploads)

/**
 * Reads and locks an unfinished upload until the transaction ends. Returns null if another host was faster.
 */
async function lock(tx: Db, id: string): Promise<KeptUpload | null> {
  const [row] = await tx
    .select({ ...columns, text: sql<string>`coalesce(${uploads.body}::text, '[]')` })
    .from(uploads)
    .where(and(eq(uploads.id, id), isNull(uploads.finishedAt)))
    .for('update')
  return row ?? null
}

async function finish(
  tx: Db,
  upload: KeptUpload,
  state: 'SUCCESS' | 'FAILURE',
  told: Record<string, unknown>,
): Promise<void> {
  await tx
    .update(uploads)
    .set({ state, body: null, finishedAt: sql`now()` })
    .where(eq(uploads.id, upload.id))
  await recordActivity(
    tx,
    upload,
    EVENTS[upload.kind],
    [{ target_type: 'Upload', name: upload.kind, id: upload.id }],
    { ...told, ...(upload.appId === null ? {} : { app_id: upload.appId }) },
    state === 'SUCCESS' ? 'Succeeded' : 'Failed',
  )
}
