/**
 * Number of lines by app, state and hints, computed without reading them, from changes that a trigger records
 * per statement. The sum is exact in the snapshot that reads it.
 */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { tryLockUntilEnd } from '../../database/locks.ts'
import { accessReviewCounts } from '../../database/schema/reviews.ts'

/** Number of rows of a review above which they are folded. */
const FOLD_ABOVE = 500

/** Query for the number of lines that meet a condition on app, state and hints. */
export const countOf = (which: SQL | undefined): SQL => sql`
  select coalesce(sum(${accessReviewCounts.n}), 0)::int as n from ${accessReviewCounts} where ${which ?? sql`true`}`

/** Folds the recorded changes of a review if there are many. Runs after a change, in its own transaction. */
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
