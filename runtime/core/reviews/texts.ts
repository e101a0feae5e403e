/**
 * Search texts for the lines of a review: one per account and entitlement of an app, a hundredth of the size
 * of the lines. They narrow down the lines; the columns of the lines decide.
 */
import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessReviewItems, accessReviewTexts } from '../../database/schema/reviews.ts'
import { hasPart } from '../kernel/list/search.ts'

const items = accessReviewItems

/** Maximum number of accounts and entitlements in a condition. With more, reading all lines is faster. */
const MAX_NAMED = 2000

/** Writes the search texts of an app's lines. */
export async function writeTexts(tx: Db, reviewAppId: string): Promise<void> {
  await tx.execute(sql`
    insert into access_review_texts (domain_id, review_id, arda_id, account_id, searched)
    select distinct domain_id, review_id, arda_id, account_id, concat_ws(chr(1), account, user_email)
    from access_review_items where arda_id = ${reviewAppId}`)
  await tx.execute(sql`
    insert into access_review_texts (domain_id, review_id, arda_id, entitlement, searched)
    select distinct domain_id, review_id, arda_id, md5(external_id), label
    from access_review_items where arda_id = ${reviewAppId} and external_id is not null and label is not null`)
}

/** Condition on lines whose account, address or label contains a text. */
export const containsText = (search: string): SQL | undefined =>
  or(hasPart(items.account, search), hasPart(items.userEmail, search), hasPart(items.label, search))

/** Returns an indexed condition that all lines found by a search meet, or undefined if too many do. */
export async function foundByText(
  db: Db,
  reviewId: string,
  search: string | null | undefined,
): Promise<SQL | undefined> {
  if (!search) return undefined
  const { accountId, entitlement, searched } = accessReviewTexts
  const found = await db
    .selectDistinct({ accountId, entitlement })
    .from(accessReviewTexts)
    .where(and(eq(accessReviewTexts.reviewId, reviewId), hasPart(searched, search)))
    .limit(MAX_NAMED + 1)
  if (found.length > MAX_NAMED) return undefined
  const accounts = found.flatMap((one) => one.accountId ?? [])
  const entitlements = found.flatMap((one) => one.entitlement ?? [])
  return or(
    sql`${items.accountId} = any(${sql.param(accounts)}::uuid[])`,
    sql`${items.reviewId} = ${reviewId} and md5(${items.externalId}) = any(${sql.param(entitlements)}::text[])`,
  )
}
