/** REVIEW_CHANGES: changes of reviews in progress, one row each. */
import { completeReview } from '../../core/reviews/close.ts'
import { reviewProgress } from '../../core/reviews/progress.ts'
import { remindNow } from '../../core/reviews/remind.ts'
import { type About, type ConsoleChange, minus, plus, same, wordsFrom } from './change.ts'
import { undecidedIn } from './reviews.ts'

const idOf = ({ params }: About): string => params['access_review_id'] ?? ''

const of = (verb: 'remind' | 'complete') =>
  ({
    path: `/console/reviews/:access_review_id/${verb}`,
    ...{ place: 'reviews', who: 'reviews.write', reason: 'none', does: `${verb}s a review` },
    ...wordsFrom((t) => t.console.review_change[verb]),
    back: (about) => `/console/reviews/${idOf(about)}`,
  }) satisfies Partial<ConsoleChange>

export const REVIEW_CHANGES = {
  'remind-review': {
    ...of('remind'),
    preview: async ({ db, principal, t }, about) => {
      const { apps } = await reviewProgress(db, principal, idOf(about))
      const open = apps.flatMap(({ reviewers }) => reviewers).filter((one) => one.open > 0)
      const lines = open.reduce((sum, one) => sum + one.open, 0)
      const tasks = new Set(open.map(({ task_id }) => task_id)).size
      return { lines: tasks === 0 ? [] : [plus(t.console.review_change.remind.line(tasks, lines))] }
    },
    act: ({ db, principal, context }, about) => remindNow(db, principal, idOf(about), context),
  },
  'complete-review': {
    ...of('complete'),
    danger: true,
    preview: async ({ db, principal, t }, about) => {
      const { states } = await reviewProgress(db, principal, idOf(about))
      const [open, rejected] = [undecidedIn(states), states['REJECTED'] ?? 0]
      const w = t.console.review_change.complete
      return {
        lines: [
          rejected > 0 && minus(w.rejected(rejected)),
          open > 0 && same(w.open(open)),
          minus(w.line),
        ],
      }
    },
    act: ({ db, principal, context }, about) => completeReview(db, principal, idOf(about), context),
  },
} as const satisfies Record<string, ConsoleChange>
