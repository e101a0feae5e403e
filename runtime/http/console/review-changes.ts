/** REVIEW_CHANGES: what is done with reviews that are under way, one row each. */
import { completeReview } from '../../core/reviews/close.ts'
import { reviewProgress } from '../../core/reviews/progress.ts'
import { remindNow } from '../../core/reviews/remind.ts'
import { counted } from '../frame/words.ts'
import type { About, Change } from './change.ts'
import { REVIEW_CHANGE_WORDS as WORDS } from './words/reviews.ts'

const idOf = ({ params }: About): string => params['access_review_id'] ?? ''

const of = (
  verb: 'remind' | 'complete',
): Pick<
  Change,
  'path' | 'place' | 'who' | 'reason' | 'does' | 'title' | 'lead' | 'button' | 'done' | 'back'
> => ({
  path: `/console/reviews/:access_review_id/${verb}`,
  ...{ place: 'reviews', who: 'reviews.write', reason: 'none', does: `${verb}s a review` },
  title: () => WORDS[verb].title,
  ...{ lead: WORDS[verb].lead, button: WORDS[verb].button, done: WORDS[verb].done },
  back: (about) => `/console/reviews/${idOf(about)}`,
})

export const REVIEW_CHANGES = {
  'remind-review': {
    ...of('remind'),
    preview: async ({ db, principal }, about) => {
      const { apps } = await reviewProgress(db, principal, idOf(about))
      const open = apps.flatMap(({ reviewers }) => reviewers).filter((one) => one.open > 0)
      const lines = open.reduce((sum, one) => sum + one.open, 0)
      const tasks = new Set(open.map(({ task_id }) => task_id)).size
      return { lines: tasks === 0 ? [] : [WORDS.remind.line(tasks, counted(lines, 'line'))] }
    },
    act: ({ db, principal, context }, about) => remindNow(db, principal, idOf(about), context),
  },
  'complete-review': {
    ...of('complete'),
    danger: true,
    preview: async ({ db, principal }, about) => {
      const { states } = await reviewProgress(db, principal, idOf(about))
      const [open, rejected] = [states['OPEN'] ?? 0, states['REJECTED'] ?? 0]
      return {
        lines: [
          ...(rejected > 0 ? [WORDS.complete.rejected(counted(rejected, 'line'))] : []),
          ...(open > 0 ? [WORDS.complete.open(counted(open, 'line'))] : []),
          WORDS.complete.line,
        ],
      }
    },
    act: ({ db, principal, context }, about) => completeReview(db, principal, idOf(about), context),
  },
} as const satisfies Record<string, Change>
