/** Files attached to a review, as proof of a removal or a reason to keep access. */
import { createHash } from 'node:crypto'
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import {
  badRequest,
  CoreError,
  conflict,
  forbidden,
  notFound,
} from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type { AccessReviewUploadInput } from '../../contract/models/review-upload.ts'
import { type Db, one } from '../../database/database.ts'
import {
  accessReviewFiles,
  accessReviewItems,
  accessReviewUploads,
  type ItemRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { distinctIds, isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { type PageQuery, selectPage } from '../kernel/list/page.ts'
import { findTask, mayActOn } from '../tasks/tasks.ts'
import { decidableBy, itemsCondition } from './items.ts'
import { findReview, findReviewApp, noteReview } from './rows.ts'

type UploadRow = typeof accessReviewUploads.$inferSelect

const { most: MOST } = CALLER_LIMITS.review_files

const toUpload = (row: UploadRow) => ({
  ...{ id: row.id, arda_id: row.reviewAppId, item_ids: row.itemIds },
  ...{ name: row.name, media_type: row.mediaType, bytes: row.length, sha256: row.digest },
  ...{ by_id: row.userId, created_at: row.createdAt.toISOString() },
})

/**
 * Stores a file. Permitted with reviews.write, for reviewers of the lines, and for assignees of their removal
 * tasks; also after the end of a review, whose evidence then includes it.
 *
 * @throws CoreError `bad_request` unless it names its subject, `forbidden`, `not_found`, `conflict` for too
 * many files
 */
export async function uploadEvidence(
  db: Db,
  principal: Principal,
  id: string,
  body: AccessReviewUploadInput,
) {
  const content = Buffer.from(body.content, 'base64')
  const digest = createHash('sha256').update(content).digest('hex')
  return db.transaction(async (tx) => {
    const review = await findReview(tx, principal, id, true)
    const { reviewAppId, itemIds } = await subjectOf(tx, principal, review, body)
    const mine = eq(accessReviewUploads.reviewId, review.id)
    if ((await tx.$count(accessReviewUploads, mine)) >= MOST)
      throw conflict(`The access review already has ${MOST} files, which is the maximum`)
    const row = one(
      await tx
        .insert(accessReviewUploads)
        .values({
          ...{ domainId: review.domainId, reviewId: review.id, reviewAppId, itemIds },
          ...{ userId: principal.userId, name: body.name.trim(), mediaType: body.media_type },
          ...{ length: content.length, digest },
        })
        .returning(),
    )
    await tx.insert(accessReviewFiles).values({ uploadId: row.id, content })
    await noteReview(tx, principal, review, 'EVIDENCE_UPLOADED', { upload_id: row.id, digest })
    return toUpload(row)
  })
}

/** Returns the lines or the app that a file is about. @throws CoreError bad_request, forbidden, not_found */
async function subjectOf(
  tx: Db,
  principal: Principal,
  review: ReviewRow,
  { item_ids, arda_id }: Pick<AccessReviewUploadInput, 'item_ids' | 'arda_id'>,
): Promise<{ reviewAppId: string; itemIds: string[] }> {
  const ids = distinctIds(item_ids ?? [])
  if ((ids.length === 0) === !arda_id)
    throw badRequest('Name the subject of the file: either item_ids or arda_id')
  const writes = principal.permissions.has('reviews.write')
  if (arda_id) {
    const reviewApp = await findReviewApp(tx, review, arda_id, false)
    if (!writes) throw forbidden('Name the lines that you review or remove in item_ids')
    return { reviewAppId: reviewApp.id, itemIds: [] }
  }
  const rows = await tx
    .select({ item: accessReviewItems, mine: sql<boolean>`${decidableBy(principal.userId)}` })
    .from(accessReviewItems)
    .where(and(itemsCondition(review, {}), inArray(accessReviewItems.id, ids.filter(isId))))
  if (rows.length !== ids.length) throw notFound('Line')
  const reviewApps = new Set(rows.map(({ item }) => item.reviewAppId))
  const [reviewAppId = '', ...others] = reviewApps
  if (others.length > 0) throw badRequest('item_ids names lines of more than one app')
  for (const { item, mine } of rows)
    if (!writes && !mine && !(await removes(tx, principal, item)))
      throw principal.permissions.has('reviews.read')
        ? forbidden('You are not asked to review or remove these lines')
        : notFound('Line')
  return { reviewAppId, itemIds: ids }
}

/** Returns the line to which a person wants to attach a file. @throws CoreError forbidden, not_found */
export async function fileSubject(
  db: Db,
  principal: Principal,
  id: string,
  itemId: string,
): Promise<ItemRow> {
  const review = await findReview(db, principal, id)
  const { itemIds } = await subjectOf(db, principal, review, {
    ...{ item_ids: [itemId], arda_id: undefined },
  })
  return one(
    await db.select().from(accessReviewItems).where(inArray(accessReviewItems.id, itemIds)),
  )
}

/** Reports whether a person has the task to remove a line. */
async function removes(tx: Db, principal: Principal, { taskId }: ItemRow): Promise<boolean> {
  if (taskId === null) return false
  try {
    return await mayActOn(tx, principal, await findTask(tx, principal, taskId, false))
  } catch (error) {
    // The person may not see the task.
    if (error instanceof CoreError && error.kind === 'not_found') return false
    throw error
  }
}

/** Lists files without their content, which is in the evidence. @throws CoreError not_found */
export async function listUploads(db: Db, principal: Principal, id: string, query: PageQuery) {
  const review = await findReview(db, principal, id)
  const { reviewId, createdAt, id: uploadId } = accessReviewUploads
  const list = { where: eq(reviewId, review.id), order: [asc(createdAt), asc(uploadId)] }
  return selectPage(db, accessReviewUploads, list, query, (rows) => rows.map(toUpload))
}

/** Returns the lines `upload` of evidence, reading one file at a time. */
export async function* uploadLines(
  tx: Db,
  { id: review }: ReviewRow,
): AsyncGenerator<Record<string, unknown>> {
  const { id: uploadId, reviewId, createdAt } = accessReviewUploads
  const rows = await tx
    .select()
    .from(accessReviewUploads)
    .where(eq(reviewId, review))
    .orderBy(asc(createdAt), asc(uploadId))
  for (const row of rows) {
    const [file] = await tx
      .select({ content: accessReviewFiles.content })
      .from(accessReviewFiles)
      .where(eq(accessReviewFiles.uploadId, row.id))
    const { sha256: digest, created_at: at, ...upload } = toUpload(row)
    yield { ...upload, at, digest, content: file?.content.toString('base64') ?? null }
  }
}

/** Requires the file that a removal task asks for. @throws CoreError `conflict` if none is attached */
export async function requireUpload(tx: Db, taskId: string): Promise<void> {
  const { rows } = await tx.execute<{ id: string; review: string }>(sql`
    select i.id, i.review_id as review from access_review_items i
    join access_review_apps a on a.id = i.arda_id and a.evidence_upload = 'ALWAYS'
    where i.task_id = ${taskId} and not exists (select from access_review_uploads u
      where u.arda_id = i.arda_id and (u.item_ids = '{}' or u.item_ids @> array[i.id])) limit 1`)
  const [item] = rows
  if (item)
    throw conflict(
      `A file is required as evidence of the removal: attach one with POST /access_reviews/${item.review}/evidence/uploads and "item_ids":["${item.id}"]`,
    )
}
