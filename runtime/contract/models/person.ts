/** Users and groups of the core interface: core-interface.md sections 2.1, 2.2 and 3 ("Nulls"). */
import * as v from 'valibot'
import { nullable } from '../schema/optional.ts'

export const USER_STATUSES = ['STAGED', 'ACTIVE', 'SUSPENDED', 'INACTIVE'] as const

/** Clients want these as text, never null. */
const text = (description: string) => v.pipe(v.string(), v.metadata({ description }))

const user = {
  id: v.string(),
  email: text('E-mail address'),
  given_name: text('First name, empty when unknown'),
  family_name: text('Last name, empty when unknown'),
  status: nullable(v.picklist(USER_STATUSES)),
}

/** Orders of lists of users. */
export const USER_SORTS = ['email', '-email'] as const
export type UserSort = (typeof USER_SORTS)[number]

export const User = v.pipe(v.strictObject(user), v.metadata({ title: 'User' }))
export type User = v.InferInput<typeof User>

export const CustomAttribute = v.pipe(
  v.strictObject({
    type: v.picklist(['TEXT', 'USER', 'SINGLE_SELECT']),
    value: nullable(v.unknown()),
  }),
  v.metadata({ title: 'CustomAttribute' }),
)

export const UserWithCustomAttributes = v.pipe(
  v.strictObject({ ...user, custom_attributes: nullable(v.record(v.string(), CustomAttribute)) }),
  v.metadata({ title: 'UserWithCustomAttributes' }),
)

export const Group = v.pipe(
  v.strictObject({
    id: v.string(),
    app_id: text('The app that the group comes from, empty for none'),
    integration_specific_id: text('Its id there'),
    name: text('Name'),
    description: text('Description'),
    group_lifecycle: v.picklist(['SYNCED', 'NATIVE']),
    source_app_id: text('The same as app_id'),
  }),
  v.metadata({ title: 'Group' }),
)
