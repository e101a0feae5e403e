/**
 * Settings that name approvers, in two stages, with the same rules for an app and for a permission of its
 * own. For the approvers of a request, see requests/approvers.ts.
 */
import { type AllowedGroups, NO_PEOPLE, type People } from '../../../contract/models/approval.ts'
import type { StoredDocument } from '../../../database/schema/app_store.ts'
import type { ReferencePlace } from './references.ts'

/** Returns the ids for the column next to a document, or null if everybody is allowed. */
export const allowedIds = ({ type, groups }: AllowedGroups): string[] | null =>
  type === 'ALL_GROUPS' ? null : groups

/** Returns the reference places of `{ groups, users }` below a path. */
export const peoplePlaces = (...path: string[]): ReferencePlace[] => [
  { path: [...path, 'groups', '*'], kind: 'group' },
  { path: [...path, 'users', '*'], kind: 'user' },
]

/** Reports whether no groups and no users are named. */
export const namesNoOne = ({ groups, users }: Partial<People>): boolean =>
  !groups?.length && !users?.length

/** Part of a document that names the approvers. */
type Flow = StoredDocument & {
  require_additional_approval?: boolean | null
  approvers?: Partial<People>
  approvers_stage_2?: Partial<People>
}

/**
 * Merges the approvers of the second stage into the first if a change turns the second off (core-interface.md
 * section 1.17).
 *
 * @param flow the document after the change
 * @param change the requested change
 */
export function withoutSecondStage(flow: Flow, change: Flow | null | undefined): Flow {
  if (change?.require_additional_approval !== false || namesNoOne(flow.approvers_stage_2 ?? {}))
    return flow
  const { approvers: first = {}, approvers_stage_2: second = {} } = flow
  return {
    ...flow,
    approvers: {
      groups: union(first.groups, second.groups),
      users: union(first.users, second.users),
    },
    approvers_stage_2: NO_PEOPLE,
  }
}

/** Reports whether there is a second stage. If that is not set, there is one if it has approvers. */
export const secondStageOf = ({ require_additional_approval, approvers_stage_2 }: Flow): boolean =>
  require_additional_approval ?? !namesNoOne(approvers_stage_2 ?? {})

const union = (one: string[] = [], other: string[] = []): string[] => [
  ...one,
  ...other.filter((id) => !one.includes(id)),
]
