/**
 * What the lines of a review are searched by: a text for each account and each entitlement of an app, a hundredth of what
 * the lines are. It names lines that may fit; what a line says itself decides.
 */
import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessReviewItems, accessReviewTexts } from '../../database/schema/reviews.ts'
import { hasPart } from '../kernel/list/search.ts'

const items = accessReviewItems

/** Accounts and entitlements up to which they are named; more of them are found sooner by reading all lines. */
const MOST_NAMED = 2000

/** Writes down what the lines of an app are searched by. */
export async function writeTexts(tx: Db, ardaId: string): Promise<void> {
  await tx.execute(sql`
    insert into access_review_texts (domain_id, review_id, arda_id, account_id, searched)
    select distinct domain_id, review_id, arda_id, account_id, concat_ws(chr(1), account, user_email)
    from access_review_items where arda_id = ${ardaId}`)
  await tx.execute(sql`
    insert into access_review_texts (domain_id, review_id, arda_id, entitlement, searched)
    select distinct domain_id, review_id, arda_id, md5(external_id), label
    from access_review_items where arda_id = ${ardaId} and external_id is not null and label is not null`)
}

/** A condition: lines whose account, address or label has a part of a text. */
export const saying = (search: string): SQL | undefined =>
  or(hasPart(items.account, search), hasPart(items.userEmail, search), hasPart(items.label, search))

/** A condition that all lines fit which a search of a review finds, and which indexes answer; none where many do. */
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
    .limit(MOST_NAMED + 1)
  if (found.length > MOST_NAMED) return undefined
  const accounts = found.flatMap((one) => one.accountId ?? [])
  const entitlements = found.flatMap((one) => one.entitlement ?? [])
  return or(
    sql`${items.accountId} = any(${sql.param(accounts)}::uuid[])`,
    sql`${items.reviewId} = ${reviewId} and md5(${items.externalId}) = any(${sql.param(entitlements)}::text[])`,
  )
}
