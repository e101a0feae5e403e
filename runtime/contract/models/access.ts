/** Access that a person or account held at a moment, and the reasons for it. */
import * as v from 'valibot'
import { described, nullable, strictObject } from '../schema/schemas.ts'

const text = (description: string) => described(v.string(), description)
const moment = (description: string) => text(`${description}; ISO 8601, UTC`)
const run = (description: string) =>
  nullable(described(v.number(), `${description}; null if no sync found it`))

const SPAN = {
  since: moment('Start of the access, or first time it is known to have existed'),
  until: nullable(moment('Time at which it was found to have ended')),
  first_run: run('The first complete sync that saw it'),
  last_run: run('The last complete sync that saw it'),
  gone_run: run('The first complete sync that did not see it'),
}

const ENTITLEMENT = {
  entitlement_type: v.string(),
  entitlement_id: text('Id of the entitlement within its resource'),
  resource_id: text('Empty for the global resource'),
  label: text('As reported by the latest sync'),
}

export const Association = strictObject('Association', 'An entitlement that an account held', {
  app_id: v.string(),
  account_id: v.string(),
  unique_identifier: text('Id of the account in the app'),
  ...ENTITLEMENT,
  ...SPAN,
})
export type Association = v.InferInput<typeof Association>

const REASON_KINDS = ['request', 'policy', 'found'] as const

export const AccessReason = strictObject('AccessReason', {
  kind: described(
    v.picklist(REASON_KINDS),
    '`found`: found by a sync, but granted by neither a request nor a policy',
  ),
  request_id: nullable(v.string()),
  policy_id: nullable(v.string()),
  policy_name: nullable(v.string()),
  request_status: nullable(text('Current state of the request that granted it')),
  ends_at: nullable(moment('Time at which it will be removed; null for no end')),
  since: nullable(moment('Time at which it was granted; null for `found`')),
  until: nullable(moment('Time at which it was removed')),
  end_reason: nullable(
    text('Why it was, or is being, removed; null if it expired, or has not ended'),
  ),
  revoked_by_user_id: nullable(text('User who revoked it')),
})
export type AccessReason = v.InferInput<typeof AccessReason>

const ACCESS_KINDS = ['account', 'entitlement', 'group', 'granted'] as const

export const Access = strictObject('Access', 'Access that a person held', {
  kind: described(
    v.picklist(ACCESS_KINDS),
    '`granted`: a request or policy granted it, and no sync found it',
  ),
  app_id: nullable(v.string()),
  app_name: nullable(v.string()),
  account_id: nullable(v.string()),
  unique_identifier: nullable(text('Id of the account in the app')),
  status: nullable(text('State of the account')),
  group_id: nullable(v.string()),
  entitlement_type: nullable(v.string()),
  entitlement_id: nullable(v.string()),
  resource_id: nullable(v.string()),
  label: nullable(text('Label of the entitlement, the group or the permission')),
  ...SPAN,
  reasons: v.array(AccessReason),
})
export type Access = v.InferInput<typeof Access>
