/** Check of whether granted access can be revoked now, made before `revocation_ordered`. Pure. */
import type { RequestStatus } from '../../../contract/models/access-request.ts'
import type { RequestRow } from '../../../database/schema/requests.ts'
import { REVOCABLE_STATES, standingOf } from './states.ts'

/** `done`: it was revoked before, and there is nothing to do. */
type RevocationVerdict = { kind: 'revoke' } | { kind: 'done' } | { kind: 'refused'; words: string }

type Asked = Pick<RequestRow, 'id' | 'status' | 'notes' | 'policyId' | 'revokedById'>

const refused = (words: string): RevocationVerdict => ({ kind: 'refused', words })

/** Reports whether a request in a state has access that can be revoked. */
export const isRevocable = (status: RequestStatus): boolean =>
  REVOCABLE_STATES.some((one) => one === status)

/** Judges whether the access of a request can be revoked. @param policyName name of the granting policy */
export function judgeRevocation(request: Asked, policyName: string | null): RevocationVerdict {
  const { id, status, policyId, revokedById } = request
  if (revokedById !== null) return { kind: 'done' }
  switch (standingOf(status)) {
    case 'asked':
      return refused(
        `The request is ${status}, so nothing has been granted yet. Cancel it: DELETE /appstore/access_requests/${id}`,
      )
    case 'unwanted':
      return refused(`It is already being revoked: ${whyLeaving(request)}`)
    case 'over':
      return refused(overWords(status))
    case 'wanted':
      return policyId === null
        ? { kind: 'revoke' }
        : refused(
            `The access policy “${policyName ?? policyId}” gives this access and keeps giving it. Change who it applies to or what it gives (PUT /access_policies/${policyId}); Keyway then revokes the access`,
          )
  }
}

function whyLeaving({ status, notes }: Asked): string {
  const why = Object.hasOwn(notes, 'REVERTING')
    ? (notes['REVERTING'] ?? 'its reason no longer applies')
    : 'its time is up'
  return status === 'PENDING_MANUAL_DEPROVISIONING'
    ? `${why}. A person was asked to do it by hand; see the tasks of the request`
    : why
}

/** States that may leave access in the system. */
const LEFT: readonly RequestStatus[] = ['TIME_BASED_EXPIRED_FAILED', 'TIME_BASED_EXPIRED_CANCELLED']

const overWords = (status: RequestStatus): string =>
  LEFT.includes(status)
    ? `The request is ${status}: it has ended, and the access was left in the system. Reject its line in an access review of the app to remove it there`
    : `The request is ${status}, so there is nothing to revoke`
