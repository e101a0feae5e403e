/** Accounts and their activity: service.md sections 2.5 and 3; connector-interface.md 2.7, 2.8. */
import * as v from 'valibot'
import { described, freeObject, nullable, strictObject, stringMap } from '../schema/schemas.ts'

export const AccountStatus = v.pipe(
  v.picklist(['ACTIVE', 'INACTIVE', 'SUSPENDED', 'DEPROVISIONED', 'PENDING', 'DELETED']),
  v.metadata({ title: 'AccountStatus', description: 'Current status of an account' }),
)
export type AccountStatus = v.InferOutput<typeof AccountStatus>

/** Statuses that list_accounts may return (service.md section 4.1). */
export const LISTED_STATUSES: readonly AccountStatus[] = ['ACTIVE', 'SUSPENDED']

const AccountType = v.pipe(
  v.picklist(['service', 'user']),
  v.metadata({
    title: 'AccountType',
    description: 'Whether a person or a program uses the account',
  }),
)

/** Returns the schema of an account's id. */
export const accountId = (description = 'Id of the account in the integration') =>
  v.pipe(v.string(), v.metadata({ semantic: 'account-id', description }))

const text = (description: string) => nullable(described(v.string(), description))

export const FoundAccountData = strictObject(
  'FoundAccountData',
  'An account in the third-party system',
  {
    integration_specific_id: accountId('Uniquely identifies the account in the integration'),
    email: text('E-mail address'),
    given_name: text('First name'),
    family_name: text('Last name'),
    username: text('User name'),
    user_status: nullable(AccountStatus),
    extra_data: nullable(freeObject()),
    custom_attributes: nullable(stringMap()),
    account_type: nullable(AccountType),
  },
)

export const LastActivityData = strictObject('LastActivityData', 'When an account was last used', {
  account_id: accountId(),
  event_type: described(v.string(), 'last_login or last_activity'),
  happened_at: described(v.string(), 'ISO 8601, with offset'),
})

const activity = {
  id: v.string(),
  activity_type: described(v.string(), 'A standard activity or the system’s own term'),
  timestamp: described(v.string(), 'ISO 8601'),
  actor: freeObject(),
  targets: v.array(freeObject()),
  metadata: nullable(stringMap()),
}

export const ActivityRecord = strictObject(
  'ActivityRecord',
  'One entry of the system’s activity log',
  activity,
)

export const ApplicationActivityRecord = strictObject(
  'ApplicationActivityRecord',
  'An activity within one application',
  {
    ...activity,
    application_instance_id: v.pipe(
      v.string(),
      v.metadata({ semantic: 'application-instance-id' }),
    ),
  },
)

export const CustomAttributeSchema = strictObject(
  'CustomAttributeSchema',
  'A custom attribute that may be requested',
  {
    customized_type: v.picklist(['ACCOUNT', 'ENTITLEMENT', 'RESOURCE']),
    name: v.string(),
    attribute_type: v.picklist(['STRING', 'USER']),
    description: nullable(v.string()),
  },
)
