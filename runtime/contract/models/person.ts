/** Users and groups of the core interface: core-interface.md sections 2.1, 2.2 and 3 ("Nulls"). */
import * as v from 'valibot'
import { described, nullable, strictObject } from '../schema/schemas.ts'

export const USER_STATUSES = ['STAGED', 'ACTIVE', 'SUSPENDED', 'INACTIVE'] as const

/** Clients require these as strings, never null. */
const text = (description: string) => described(v.string(), description)

const user = {
  id: v.string(),
  email: text('E-mail address'),
  given_name: text('First name, empty if unknown'),
  family_name: text('Last name, empty if unknown'),
  status: nullable(v.picklist(USER_STATUSES)),
}

/** Sort orders for lists of users. */
export const USER_SORTS = ['email', '-email'] as const

export const User = strictObject('User', user)
export type User = v.InferInput<typeof User>

export const CustomAttribute = strictObject('CustomAttribute', {
  type: v.picklist(['TEXT', 'USER', 'SINGLE_SELECT']),
  value: nullable(v.unknown()),
})

export const UserWithCustomAttributes = strictObject('UserWithCustomAttributes', {
  ...user,
  custom_attributes: nullable(v.record(v.string(), CustomAttribute)),
})

export const Group = strictObject('Group', {
  id: v.string(),
  app_id: text('Id of the app that the group comes from; empty for none'),
  integration_specific_id: text('Id of the group in that app'),
  name: text('Name'),
  description: text('Description'),
  group_lifecycle: v.picklist(['SYNCED', 'NATIVE']),
  source_app_id: text('The same as app_id'),
})
