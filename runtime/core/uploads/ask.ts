/** Acceptance of uploads: they are validated at once, stored, and processed in the background. */
import { and, eq, isNull, sql } from 'drizzle-orm'
import { bodyEntry, CoreError, notFound } from '../../contract/errors/problem.ts'
import type { Uploaded, UploadKind } from '../../contract/models/upload.ts'
import { type Db, written } from '../../database/database.ts'
import { uploads } from '../../database/schema/uploads.ts'
import { findApp } from '../catalogue/apps/apps.ts'
import { isId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { requireBelowLimit } from '../kernel/count-limit.ts'
import { reach } from '../kernel/identity/app-reach.ts'
import type { Principal } from '../kernel/identity/principal.ts'

type Parts = Pick<CoreContext, 'send'>
type UploadRow = typeof uploads.$inferSelect

/** Retry delay for clients, in seconds. */
const WAITING_RETRY_SECONDS = 10

/**
 * Stores accounts of a custom app for processing.
 *
 * @throws CoreError `forbidden`, `not_found`; `invalid` for a connected app, and for accounts that are
 * duplicate or have no identifier; `too_many_requests` if too many uploads of the caller wait
 */
export async function uploadAccounts(
  db: Db,
  principal: Principal,
  uploaded: Uploaded,
  parts: Parts,
) {
  const app = await findApp(db, principal, uploaded.apps[0] ?? '', 'apps.write')
  const entries =
    app.connectorId === null
      ? uploaded.wrong
      : [bodyEntry(['app_id'], 'a connected app gets its accounts from its syncs')]
  if (entries.length > 0) throw new CoreError('invalid', entries)
  refuseEmpty('accounts', uploaded)
  return keep(db, principal, { kind: 'accounts', appId: app.id, uploaded }, parts)
}

/**
 * Stores records of the use of accounts for processing.
 *
 * @throws CoreError `forbidden`, `not_found` if a source is not an app of the caller, `invalid`,
 * `too_many_requests`
 */
export async function uploadActivity(
  db: Db,
  principal: Principal,
  uploaded: Uploaded,
  parts: Parts,
) {
  // Refuse a caller who manages no app, even if no app is named.
  reach(principal, 'apps.write')
  refuseEmpty('records', uploaded)
  for (const id of uploaded.apps) await findApp(db, principal, id, 'apps.write')
  if (uploaded.wrong.length > 0) throw new CoreError('invalid', uploaded.wrong)
  const job = await keep(db, principal, { kind: 'activity', appId: null, uploaded }, parts)
  return { job: toRun(job) }
}

/** Refuses an empty upload: its only effect would be a log entry. @throws CoreError `invalid` */
function refuseEmpty(member: string, { count }: Uploaded): void {
  if (count === 0)
    throw new CoreError('invalid', [bodyEntry([member], 'must hold at least one entry')])
}

/** Reads an upload of accounts. @throws CoreError `not_found` */
export const accountUpload = (db: Db, principal: Principal, id: string) =>
  findUpload(db, principal, 'accounts', id)

/** Reads an upload of activity records. @throws CoreError `not_found` */
export const activityUpload = async (db: Db, principal: Principal, id: string) =>
  toRun(await findUpload(db, principal, 'activity', id))

/** Stores an upload. @throws CoreError `too_many_requests` if too many uploads of the user wait */
async function keep(
  db: Db,
  { domainId, userId }: Principal,
  { kind, appId, uploaded }: { kind: UploadKind; appId: string | null; uploaded: Uploaded },
  { send }: Parts,
) {
  return db.transaction(async (tx) => {
    const open = and(isNull(uploads.finishedAt), eq(uploads.userId, userId))
    await requireBelowLimit(
      tx,
      { limit: 'waiting_uploads', owner: userId },
      () => tx.$count(uploads, open),
      (most) =>
        new CoreError(
          'too_many_requests',
          `${most} of your uploads are waiting to be processed; send the next one when one of them is done`,
          { retryAfterSeconds: WAITING_RETRY_SECONDS },
        ),
    )
    const [row] = await tx
      .insert(uploads)
      .values({ kind, appId, domainId, userId, body: sql`${uploaded.rows}::jsonb` })
      .returning({ id: uploads.id, state: uploads.state })
    const made = written(row)
    await send(tx, 'uploads', made.id)
    return toJob(made)
  })
}

/**
 * Reads an upload of the caller, or of anyone for a caller who may manage every app. @throws CoreError
 * `not_found`
 */
async function findUpload(
  db: Db,
  { domainId, userId, permissions }: Principal,
  kind: UploadRow['kind'],
  id: string,
) {
  const mine = permissions.has('apps.write') ? undefined : eq(uploads.userId, userId)
  const [row] = isId(id)
    ? await db
        .select({ id: uploads.id, state: uploads.state })
        .from(uploads)
        .where(
          and(eq(uploads.id, id), eq(uploads.domainId, domainId), eq(uploads.kind, kind), mine),
        )
    : []
  if (!row) throw notFound('Job')
  return toJob(row)
}

const toJob = ({ id, state }: Pick<UploadRow, 'id' | 'state'>) => ({ job_id: id, state })

const toRun = ({ job_id, state }: ReturnType<typeof toJob>) => ({
  job_id,
  state: state === 'SUCCESS' || state === 'FAILURE' ? ('DONE' as const) : ('RUNNING' as const),
})
