/** Accounts and what happens to them: service.md sections 2.5 and 3; connector-interface.md 2.7, 2.8. */
import * as v from 'valibot'
import { freeObject, stringMap } from '../schema/free-object.ts'
import { nullable } from '../schema/optional.ts'

export const AccountStatus = v.pipe(
  v.picklist(['ACTIVE', 'INACTIVE', 'SUSPENDED', 'DEPROVISIONED', 'PENDING', 'DELETED']),
  v.metadata({ title: 'AccountStatus', description: 'Current status of an account' }),
)
export type AccountStatus = v.InferOutput<typeof AccountStatus>

/** The statuses that may leave list_accounts (service.md section 4.1). */
export const LISTED_STATUSES: readonly AccountStatus[] = ['ACTIVE', 'SUSPENDED']

const AccountType = v.pipe(
  v.picklist(['service', 'user']),
  v.metadata({
    title: 'AccountType',
    description: 'Whether a person or a program uses the account',
  }),
)

export const accountId = (description = 'The account, by its id in the integration') =>
  v.pipe(v.string(), v.metadata({ semantic: 'account-id', description }))

const text = (description: string) => nullable(v.pipe(v.string(), v.metadata({ description })))

export const FoundAccountData = v.pipe(
  v.strictObject({
    integration_specific_id: accountId('Uniquely identifies the account in the integration'),
    email: text('E-mail address'),
    given_name: text('First name'),
    family_name: text('Last name'),
    username: text('User name'),
    user_status: nullable(AccountStatus),
    extra_data: nullable(freeObject()),
    custom_attributes: nullable(stringMap()),
    account_type: nullable(AccountType),
  }),
  v.metadata({ title: 'FoundAccountData', description: 'An account in the third-party system' }),
)

export const LastActivityData = v.pipe(
  v.strictObject({
    account_id: accountId(),
    event_type: v.pipe(v.string(), v.metadata({ description: 'last_login or last_activity' })),
    happened_at: v.pipe(v.string(), v.metadata({ description: 'ISO 8601, with offset' })),
  }),
  v.metadata({ title: 'LastActivityData', description: 'When an account was last used' }),
)

const activity = {
  id: v.string(),
  activity_type: v.pipe(
    v.string(),
    v.metadata({ description: 'A standard activity or the system’s own word' }),
  ),
  timestamp: v.pipe(v.string(), v.metadata({ description: 'ISO 8601' })),
  actor: freeObject(),
  targets: v.array(freeObject()),
  metadata: nullable(stringMap()),
}

export const ActivityRecord = v.pipe(
  v.strictObject(activity),
  v.metadata({ title: 'ActivityRecord', description: 'One entry of the system’s activity log' }),
)

export const ApplicationActivityRecord = v.pipe(
  v.strictObject({
    ...activity,
    application_instance_id: v.pipe(
      v.string(),
      v.metadata({ semantic: 'application-instance-id' }),
    ),
  }),
  v.metadata({
    title: 'ApplicationActivityRecord',
    description: 'An activity within one application',
  }),
)

export const CustomAttributeSchema = v.pipe(
  v.strictObject({
    customized_type: v.picklist(['ACCOUNT', 'ENTITLEMENT', 'RESOURCE']),
    name: v.string(),
    attribute_type: v.picklist(['STRING', 'USER']),
    description: nullable(v.string()),
  }),
  v.metadata({
    title: 'CustomAttributeSchema',
    description: 'A custom attribute that may be asked for',
  }),
)
