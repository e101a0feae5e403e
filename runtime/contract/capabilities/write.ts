/** Capabilities that change the connected system. */
import * as v from 'valibot'
import { AccountStatus, accountId } from '../models/account.ts'
import { applicationInstanceId, CreateAccountEntitlement } from '../models/entitlement.ts'
import { described, freeObject, maybe, nullable } from '../schema/schemas.ts'
import { assignment, capabilities, oneAccount } from './row.ts'

const write = capabilities({ group: 'Write', level: 'write' })
const done = described(v.literal(true), 'Always true: a failure is an error')
const grant = {
  account_integration_specific_id: accountId(),
  resource_integration_specific_id: described(v.string(), 'Empty for the global resource'),
  resource_type: v.string(),
  entitlement_type: v.string(),
  entitlement_integration_specific_id: v.string(),
}
const outcome = v.strictObject({
  success: v.boolean(),
  reason: nullable(described(v.string(), 'Why it did not succeed')),
})

export const WRITE = {
  create_account: write({
    extensible: true,
    summary: 'Create an account',
    input: v.object({
      entitlements: described(
        v.array(CreateAccountEntitlement),
        'Only entitlements of types whose min is above 0; others are assigned afterwards',
      ),
      email: maybe(v.string()),
      username: maybe(v.string()),
      given_name: maybe(v.string()),
      family_name: maybe(v.string()),
      user_status: maybe(v.string()),
      extra_data: maybe(freeObject()),
    }),
    output: v.strictObject({ status: AccountStatus, created: done, id: nullable(accountId()) }),
  }),
  update_account: write({
    extensible: true,
    summary: 'Change an account; the connector declares the fields',
    input: v.object({ id: accountId() }),
    output: v.strictObject({ id: accountId() }),
  }),
  activate_account: write({
    summary: 'Activate an account; succeeds if it is already active',
    input: oneAccount,
    output: v.strictObject({ status: AccountStatus, activated: v.boolean() }),
  }),
  deactivate_account: write({
    summary: 'Make an account unusable; it is kept in the system',
    input: oneAccount,
    output: v.strictObject({ status: AccountStatus, deactivated: v.boolean() }),
  }),
  delete_account: write({
    summary: 'Delete an account permanently',
    input: oneAccount,
    output: v.strictObject({ status: AccountStatus, deleted: v.boolean() }),
  }),
  assign_entitlement: write({
    summary: 'Grant an entitlement to an account',
    input: v.object(grant),
    output: v.strictObject({ assigned: done }),
  }),
  unassign_entitlement: write({
    summary: 'Remove an entitlement from an account',
    input: v.object(grant),
    output: v.strictObject({ unassigned: done }),
  }),
  assign_application: write({
    summary: 'Assign an application to an account',
    input: assignment,
    output: v.strictObject({
      assigned: described(v.boolean(), 'Assigned in the identity provider'),
      provisioned: described(v.boolean(), 'The account exists in the application'),
    }),
  }),
  unassign_application: write({
    summary: 'Remove an application from an account',
    input: assignment,
    output: v.strictObject({ unassigned: done }),
  }),
  assign_application_entitlement: write({
    summary: 'Grant an entitlement of an application to an account',
    input: v.object({ ...grant, application_instance_id: applicationInstanceId }),
    output: v.strictObject({ assigned: done }),
  }),
  unassign_application_entitlement: write({
    summary: 'Remove an entitlement of an application',
    input: v.object({ ...grant, application_instance_id: applicationInstanceId }),
    output: v.strictObject({ unassigned: done }),
  }),
  transfer_data: write({
    summary: 'Transfer the data of one account to another',
    input: v.object({ source_account_id: accountId(), target_account_id: accountId() }),
    output: outcome,
  }),
  release_resources: write({
    summary: 'Release the resources that an account occupies',
    input: oneAccount,
    output: outcome,
  }),
  downgrade_license: write({
    summary: 'Move an account to a cheaper licence',
    input: oneAccount,
    output: outcome,
  }),
} as const
