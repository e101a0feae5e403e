/** Values of a person that conditions may use. */

import type { IDENTITY_MEMBERS, Scalar } from '../../contract/models/condition.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { UserRow } from '../../database/schema/people.ts'
import type { ConditionSubject } from './condition.ts'

/**
 * Returns a person in the form that conditions use: `identity.email`,
 * `identity.custom_attributes["Department"]`.
 */
export function conditionSubject(user: UserRow): ConditionSubject {
  const custom = Object.entries(user.customAttributes).flatMap(([name, attribute]) => {
    const value = read(attribute)
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    members: {
      id: user.id,
      email: user.email,
      given_name: user.givenName,
      family_name: user.familyName,
      name: `${user.givenName} ${user.familyName}`.trim(),
      status: user.status,
      manager_id: user.managerId,
    } satisfies Record<(typeof IDENTITY_MEMBERS)[number], Scalar>,
    customAttributes: Object.fromEntries(custom),
  }
}

const idIn = (one: unknown): string | null => {
  const { id } = membersOf(one)
  return typeof id === 'string' ? id : null
}

/**
 * Reads an attribute, which is stored as on the wire, `{ type, value }`. People are represented by their ids.
 */
function read(attribute: unknown): Scalar | Scalar[] | undefined {
  const value = membersOf(attribute)['value']
  if (Array.isArray(value)) return value.map((one) => (isScalar(one) ? one : idIn(one)))
  return isScalar(value) ? value : undefined
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)
