/** Who held what at a moment, and why. */
import * as v from 'valibot'
import { described, nullable, strictObject } from '../schema/schemas.ts'

const text = (description: string) => described(v.string(), description)
const moment = (description: string) => text(`${description}; ISO 8601, UTC`)
const run = (description: string) =>
  nullable(described(v.number(), `${description}; null if no sync found it`))

const SPAN = {
  since: moment('From when it was so, or is known to have been'),
  until: nullable(moment('When it was found to be so no more')),
  first_run: run('The first complete sync that saw it'),
  last_run: run('The last complete sync that saw it'),
  gone_run: run('The first complete sync that did not see it'),
}

const ENTITLEMENT = {
  entitlement_type: v.string(),
  entitlement_id: text('Its id within its resource'),
  resource_id: text('Empty for the global resource'),
  label: text('As the latest sync tells it'),
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
    '`found`: a sync found it, and neither a request nor a policy granted it',
  ),
  request_id: nullable(v.string()),
  policy_id: nullable(v.string()),
  policy_name: nullable(v.string()),
  request_status: nullable(text('State of the request that gave it, as it is now')),
  ends_at: nullable(moment('When it will be taken back; null for no end')),
  since: nullable(moment('From when it was given; null for `found`')),
  until: nullable(moment('When it was taken back')),
  end_reason: nullable(
    text('Why it was, or is being, taken back; null where its time was over, or nothing ended it'),
  ),
  revoked_by_user_id: nullable(text('Who revoked it')),
})
export type AccessReason = v.InferInput<typeof AccessReason>

const ACCESS_KINDS = ['account', 'entitlement', 'group', 'granted'] as const

export const Access = strictObject('Access', 'Something that a person held', {
  kind: described(
    v.picklist(ACCESS_KINDS),
    '`granted`: a request or policy granted it, and no sync finds it',
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
  label: nullable(text('Of the entitlement, the group or the permission')),
  ...SPAN,
  reasons: v.array(AccessReason),
})
export type Access = v.InferInput<typeof Access>
