/**
 * How many lines there are by app, state and hints, without reading them: the sum of what a trigger noted of each
 * statement. The sum that a snapshot sees is exact in it.
 */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { tryLockUntilEnd } from '../../database/locks.ts'
import { accessReviewCounts } from '../../database/schema/reviews.ts'

/** Rows of a review beyond which they are folded. */
const FOLD_ABOVE = 500

/** Answers how many lines fit a condition on app, state and hints. */
export const countOf = (which: SQL | undefined): SQL => sql`
  select coalesce(sum(${accessReviewCounts.n}), 0)::int as n from ${accessReviewCounts} where ${which ?? sql`true`}`

/** Folds what was noted of a review where that is much: after what changes its lines, in a transaction of its own. */
export async function foldCounts(db: Db, reviewId: string): Promise<void> {
  const mine = eq(accessReviewCounts.reviewId, reviewId)
  const many = db
    .select({ id: accessReviewCounts.id })
    .from(accessReviewCounts)
    .where(mine)
    .limit(FOLD_ABOVE + 1)
  if ((await many).length <= FOLD_ABOVE) return
  await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ got: boolean }>(tryLockUntilEnd('folding changes'))
    if (!rows[0]?.got) return
    await tx.execute(sql`
      with gone as (delete from access_review_counts where review_id = ${reviewId}
        returning domain_id, arda_id, state, hints, n)
      insert into access_review_counts (domain_id, review_id, arda_id, state, hints, n)
      select domain_id, ${reviewId}, arda_id, state, hints, sum(n) from gone
      group by domain_id, arda_id, state, hints having sum(n) <> 0`)
  })
}
