/** The settings that name approvers, in two stages: the same rules for an app's and for a permission's own. Who approves a request: requests/approvers.ts. */
import { type AllowedGroups, NO_PEOPLE, type People } from '../../../contract/models/approval.ts'
import type { StoredDocument } from '../../../database/schema/app_store.ts'
import type { ReferencePlace } from './references.ts'

/** The column beside a document: null where everybody is allowed. */
export const allowedIds = ({ type, groups }: AllowedGroups): string[] | null =>
  type === 'ALL_GROUPS' ? null : groups

/** Where `{ groups, users }` refers to, below a path. */
export const peoplePlaces = (...path: string[]): ReferencePlace[] => [
  { path: [...path, 'groups', '*'], kind: 'group' },
  { path: [...path, 'users', '*'], kind: 'user' },
]

export const isNobody = ({ groups, users }: Partial<People>): boolean =>
  !groups?.length && !users?.length

/** A document's part that says who approves. */
type Flow = StoredDocument & {
  require_additional_approval?: boolean | null
  approvers?: Partial<People>
  approvers_stage_2?: Partial<People>
}

/**
 * Turning the second stage off makes its approvers ones of the first (core-interface.md section 1.17).
 *
 * @param flow What the document says after the change.
 * @param change What was asked for.
 */
export function withoutSecondStage(flow: Flow, change: Flow | null | undefined): Flow {
  if (change?.require_additional_approval !== false || isNobody(flow.approvers_stage_2 ?? {}))
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

/** Where nobody said whether there is a second stage, there is one if it has approvers. */
export const secondStageOf = ({ require_additional_approval, approvers_stage_2 }: Flow): boolean =>
  require_additional_approval ?? !isNobody(approvers_stage_2 ?? {})

const union = (one: string[] = [], other: string[] = []): string[] => [
  ...one,
  ...other.filter((id) => !one.includes(id)),
]
