/**
 * Allowed requesters and approvers: parts of an app's settings and of a permission's (core-interface.md 2.2).
 */
import * as v from 'valibot'
import { keptNull, nullable, object, strictObject } from '../schema/schemas.ts'
import { Group, User } from './person.ts'
import { BaseGroup, BaseUser, listOf } from './reference.ts'

const titled = <const S extends v.ObjectEntries>(title: string, entries: S) =>
  object(title, entries)
const answered = <const S extends v.ObjectEntries>(title: string, entries: S) =>
  strictObject(title, entries)

const type = v.picklist(['ALL_GROUPS', 'SPECIFIED_GROUPS'])

/** People covered by allowed groups: everyone, or the members of these groups, by id. */
export type AllowedGroups = { type: v.InferOutput<typeof type>; groups: string[] }
export const ALL_GROUPS: AllowedGroups = { type: 'ALL_GROUPS', groups: [] }

/** Groups and users, by id. */
export type People = { groups: string[]; users: string[] }
export const NO_PEOPLE: People = { groups: [], users: [] }

export const AllowedGroupsConfigInput = titled('AllowedGroupsConfigInput', {
  type: v.optional(type),
  groups: v.optional(listOf(BaseGroup)),
})
export const AllowedGroupsConfigOutput = answered('AllowedGroupsConfigOutput', {
  type,
  groups: v.array(Group),
})

const peopleInput = {
  groups: v.optional(listOf(BaseGroup)),
  users: v.optional(listOf(BaseUser)),
}
const peopleOutput = { groups: v.array(Group), users: v.array(User) }

export const AppApproversInput = titled('AppApproversInput', peopleInput)
export const AppApproversOutput = answered('AppApproversOutput', peopleOutput)
export const AppAdminsInput = titled('AppAdminsInput', peopleInput)
export const AppAdminsOutput = answered('AppAdminsOutput', peopleOutput)

const approverType = v.picklist(['USER', 'GROUP'])

const ApproverInput = v.pipe(
  v.object({
    type: v.optional(approverType),
    user: keptNull(BaseUser),
    group: keptNull(BaseGroup),
  }),
  v.check(
    ({ type, user, group }) =>
      Boolean(user) !== Boolean(group) && (!type || (type === 'USER') === Boolean(user)),
    'an approver is either a user or a group, as its type says',
  ),
  v.metadata({ title: 'ApproverInput' }),
)
const ApproverOutput = answered('ApproverOutput', {
  type: approverType,
  user: nullable(User),
  group: nullable(Group),
})

/** Maximum number of approvers of one stage. */
const MAX_STAGE_APPROVERS = 100

export const RequestApprovalStageInput = titled('RequestApprovalStageInput', {
  approvers: keptNull(listOf(ApproverInput, MAX_STAGE_APPROVERS)),
})
export const RequestApprovalStageOutput = answered('RequestApprovalStageOutput', {
  approvers: nullable(v.array(ApproverOutput)),
})
