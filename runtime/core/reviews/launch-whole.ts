/** Creation of a review with its apps and settings in one transaction. */
import { badRequest } from '../../contract/errors/problem.ts'
import type { AccessReviewDomainAppInput } from '../../contract/models/access-review.ts'
import type { AccessReviewSettingsInput } from '../../contract/models/review-item.ts'
import type { Db } from '../../database/database.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { addReviewApps, createReview } from './create.ts'
import { putReviewSettings } from './settings.ts'

type Launch = {
  name: string
  deadline_at: string
  apps: AccessReviewDomainAppInput[]
  settings: AccessReviewSettingsInput
}

const DEFAULTS = {
  ...{ owner_id: undefined, target_launch_date: undefined },
  ...{ recurrence_config: undefined, recurrence_days_frequency: undefined },
}

/** Creates and launches a review. @returns its id @throws CoreError `bad_request` if it cannot be reviewed */
export async function launchReview(
  db: Db,
  principal: Principal,
  { name, deadline_at, apps, settings }: Launch,
  deps: RequestContext,
): Promise<string> {
  if (apps.length === 0) throw badRequest('Choose at least one app')
  return db.transaction(async (tx) => {
    const { access_review: made } = await createReview(
      tx,
      principal,
      { ...DEFAULTS, name, deadline_at, apps: [] },
      deps,
    )
    // Settings apply to apps added later.
    await putReviewSettings(tx, principal, made.id, settings)
    const { added_apps, errors } = await addReviewApps(tx, principal, made.id, { apps }, deps)
    if (added_apps.length < apps.length)
      throw badRequest((errors ?? []).map(({ error }) => error).join('; '))
    return made.id
  })
}
