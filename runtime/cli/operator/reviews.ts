/** Verbs for access reviews. */
import type {
  AccessReviewDomainAppOutput,
  AccessReviewOutput,
} from '../../contract/models/access-review.ts'
import type { AccessReviewProgress } from '../../contract/models/review-item.ts'
import { counted } from '../terminal/counted.ts'
import { inLines } from '../terminal/join-lines.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'

const pathOf = (id: string, rest = ''): string => `/access_reviews/${encodeURIComponent(id)}${rest}`

export async function list(flags: ReadFlags & { limit: number }): Promise<void> {
  const path = `/access_reviews?size=${Math.min(Math.max(flags.limit, 1), 100)}`
  const answer = await ask<{ items: AccessReviewOutput[] }>(flags, path)
  print(flags, answer, ({ items }) =>
    items.length === 0
      ? 'There are no access reviews. Create one with keyway review launch.'
      : items.map(briefly).join('\n'),
  )
}

const briefly = ({ id, name, status, deadline_at, apps }: AccessReviewOutput): string =>
  `${id}  ${status}  ${name}  (${counted(apps.length, 'app')}, until ${deadline_at})`

/** Returns one review. */
export const readReview = (flags: ReadFlags, id: string): Promise<AccessReviewOutput> =>
  ask<AccessReviewOutput>(flags, pathOf(id))

export async function show(id: string, flags: ReadFlags): Promise<void> {
  const review = await readReview(flags, id)
  const progress = await ask<AccessReviewProgress>(flags, pathOf(id, '/progress'))
  print(flags, { ...review, progress }, () =>
    [briefly(review), ...progress.apps.map(appWords), ...endWords(review)].join('\n'),
  )
}

function appWords(app: AccessReviewProgress['apps'][number]): string {
  const { app_name, status, states, population, reviewers, problem } = app
  const lines = Object.entries(states).map(([state, count]) => `${count} ${state}`)
  const open = reviewers.reduce((sum, one) => sum + one.open, 0)
  return inLines([
    `  ${app_name}  ${status}: ${lines.join(', ') || 'no lines yet'}`,
    population && `    of ${population.synced} from the sync of ${population.at ?? 'no system'}`,
    open > 0 && `    ${open} wait for ${counted(reviewers.length, 'reviewer')}`,
    problem !== null && `    ${problem}`,
  ])
}

const endWords = ({ id, status }: AccessReviewOutput): string[] =>
  status === 'COMPLETED' ? [`  Evidence: keyway review evidence ${id}`] : []

type LaunchFlags = ReadFlags & {
  app: string[]
  deadline: string
  type: string
  reviewers: string
  secondReviewers?: string
  onDeadline: string
  dryRun?: true
}

type Made = { access_review: AccessReviewOutput }
type Added = {
  added_apps: AccessReviewDomainAppOutput[]
  errors: { app_id: string; error: string }[] | null
}

/**
 * Creates a review, sets its reviewers, and then adds the apps: settings apply only to apps that are added
 * later.
 */
export async function launch(name: string, flags: LaunchFlags): Promise<void> {
  const names: string[] = []
  for (const id of flags.app) {
    const path = `/apps/${encodeURIComponent(id)}`
    names.push((await ask<{ user_friendly_label: string }>(flags, path)).user_friendly_label)
  }
  const review = { name, deadline_at: flags.deadline }
  const settings = {
    ...{ reviewers: flags.reviewers, on_deadline: flags.onDeadline },
    second_reviewers: flags.secondReviewers ?? null,
  }
  const apps = flags.app.map((id) => ({ id, review_type: flags.type }))
  if (flags.dryRun)
    return print(
      flags,
      { ...review, settings, apps },
      () =>
        `Would be reviewed until ${flags.deadline}, by ${flags.reviewers} (nothing was created):\n${names.map((one) => `  ${one}`).join('\n')}`,
    )
  const { access_review } = await ask<Made>(flags, '/access_reviews', { body: review })
  const { id } = access_review
  await ask(flags, pathOf(id, '/settings'), { method: 'PUT', body: settings })
  const { added_apps, errors } = await ask<Added>(flags, pathOf(id, '/apps'), { body: { apps } })
  const made = { ...access_review, apps: added_apps, errors: errors ?? [] }
  print(flags, made, (one) =>
    [
      `${id}: ${counted(added_apps.length, 'app')} is being prepared; keyway review show ${id} shows the progress.`,
      ...one.errors.map(({ app_id, error }) => `  ${app_id}: ${error}`),
    ].join('\n'),
  )
}
