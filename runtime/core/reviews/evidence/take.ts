/** Taking evidence of a review, of an offboarding, and of a person's access at a given time. */
import type { Db } from '../../../database/database.ts'
import { findUser } from '../../directory/users.ts'
import { checkMoment } from '../../history/as-of.ts'
import { recordActivity } from '../../kernel/audit/activity.ts'
import type { RequestContext } from '../../kernel/context/context.ts'
import type { FileAnswer } from '../../kernel/file-answer.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { offboardingTarget } from '../../offboarding/machine/transitions.ts'
import { findOffboarding } from '../../offboarding/offboardings.ts'
import { findReview, noteReview } from '../rows.ts'
import { accessLines } from './access.ts'
import { evidenceLines } from './content.ts'
import { offboardingLines } from './offboarding.ts'
import { sendSealed } from './send.ts'

/**
 * Returns the evidence of a review as of one snapshot, even while decisions are made. The access is logged,
 * and so is part of the file.
 *
 * @throws CoreError `not_found`, `too_many_requests` while others are sent
 */
export async function takeEvidence(
  db: Db,
  principal: Principal,
  id: string,
  deps: RequestContext,
): Promise<FileAnswer> {
  const found = await findReview(db, principal, id)
  const key = deps.signer.key.fingerprint
  return sendSealed(
    db,
    {
      ...{
        by: principal,
        name: `keyway-review-${found.id}.jsonl`,
        about: { access_review: found.id },
      },
      note: (tx) => noteReview(tx, principal, found, 'EVIDENCE_TAKEN', { key }),
      async *lines(tx, takenAt) {
        // Read in this snapshot: the review may have changed.
        yield* evidenceLines(tx, await findReview(tx, principal, id), takenAt)
      },
    },
    deps,
  )
}

/**
 * Returns the evidence of an offboarding, which may be in progress.
 *
 * @throws CoreError `not_found`, `too_many_requests` while others are sent
 */
export async function takeOffboardingEvidence(
  db: Db,
  principal: Principal,
  id: string,
  deps: RequestContext,
): Promise<FileAnswer> {
  const found = await findOffboarding(db, principal, id, false)
  const { email } = await findUser(db, principal, found.userId)
  const key = deps.signer.key.fingerprint
  const name = `keyway-offboarding-${found.id}.jsonl`
  return sendSealed(
    db,
    {
      ...{ by: principal, name, about: { offboarding: found.id } },
      note: (tx) =>
        recordActivity(
          tx,
          principal,
          'USER_OFFBOARDING_EVIDENCE_TAKEN',
          [offboardingTarget(found, email)],
          { user_id: found.userId, key },
        ),
      async *lines(tx, takenAt) {
        yield* offboardingLines(tx, await findOffboarding(tx, principal, id, false), takenAt)
      },
    },
    deps,
  )
}

/**
 * Returns the evidence of a person's access at a given time.
 *
 * @throws CoreError `forbidden`, `not_found`, `invalid` for an unknown time, `too_many_requests` while others
 * are sent
 */
export async function takeAccessEvidence(
  db: Db,
  principal: Principal,
  userId: string,
  asOf: Date | null,
  deps: RequestContext,
): Promise<FileAnswer> {
  const user = await findUser(db, principal, userId)
  const at = asOf ?? (await deps.now(db))
  if (asOf !== null) await checkMoment(db, asOf)
  const key = deps.signer.key.fingerprint
  const target = { target_type: 'User', name: user.email, id: user.id }
  return sendSealed(
    db,
    {
      ...{ by: principal, name: `keyway-access-${user.id}.jsonl` },
      about: { user: user.id },
      note: (tx) =>
        recordActivity(tx, principal, 'USER_ACCESS_EVIDENCE_TAKEN', [target], {
          ...{ as_of: at.toISOString(), key },
        }),
      lines: (tx, takenAt) => accessLines(tx, principal, user, { asOf, at }, takenAt),
    },
    deps,
  )
}
