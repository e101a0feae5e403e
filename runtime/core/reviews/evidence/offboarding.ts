/** Lines of the evidence of an offboarding. */
import { asc, eq } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { apps } from '../../../database/schema/apps.ts'
import { type OffboardingRow, offboardingSteps } from '../../../database/schema/offboarding.ts'
import { users } from '../../../database/schema/people.ts'
import { toOffboarding } from '../../offboarding/offboardings.ts'
import { type EvidenceLine, evidenceLine } from './content.ts'
import { FORM } from './form.ts'
import { chainHeadOf, logLines } from './log-lines.ts'

/** States in which an offboarding can no longer change. */
const OVER: readonly string[] = ['COMPLETED', 'CANCELLED', 'FAILED', 'EXPIRED']

/** Returns all lines but the page and the seal, in order. */
export async function* offboardingLines(
  tx: Db,
  row: OffboardingRow,
  takenAt: Date,
): AsyncGenerator<EvidenceLine> {
  const { id, email, givenName, familyName } = users
  const [person] = await tx
    .select({ id, email, givenName, familyName })
    .from(users)
    .where(eq(users.id, row.userId))
  const steps = await tx
    .select({ step: offboardingSteps, name: apps.name })
    .from(offboardingSteps)
    .innerJoin(apps, eq(apps.id, offboardingSteps.appId))
    .where(eq(offboardingSteps.offboardingId, row.id))
    .orderBy(asc(offboardingSteps.createdAt), asc(offboardingSteps.id))
  yield evidenceLine('offboarding', {
    ...{ form: FORM, taken_at: takenAt.toISOString(), final: OVER.includes(row.status) },
    domain_id: row.domainId,
    offboarding: { ...toOffboarding(row), name: person?.email ?? '', steps: steps.length },
    person: {
      ...{ id: row.userId, email: person?.email ?? '' },
      name: `${person?.givenName ?? ''} ${person?.familyName ?? ''}`.trim(),
    },
  })
  yield evidenceLine('chain', await chainHeadOf(tx, row))
  for (const { step, name } of steps)
    yield evidenceLine('step', {
      ...{ id: step.id, app_id: step.appId, app_name: name, account: step.account },
      ...{ state: step.state, attempts: step.attempts, problem: step.problem },
      ...{ by_hand: step.taskId !== null, readings: step.readings },
      at: step.updatedAt.toISOString(),
    })
  for await (const content of logLines(tx, { ...row, ids: [row.id] }))
    yield evidenceLine('log', content)
}
