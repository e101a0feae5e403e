/** Capabilities that list and look up. Egress lets their calls only read. */
import * as v from 'valibot'
import {
  ActivityRecord,
  ApplicationActivityRecord,
  accountId,
  FoundAccountData,
  LastActivityData,
} from '../models/account.ts'
import { Application, ApplicationAccount } from '../models/application.ts'
import {
  ApplicationEntitlementAssociation,
  ApplicationEntitlementData,
  ApplicationResourceData,
  applicationInstanceId,
  FoundEntitlementAssociation,
  FoundEntitlementData,
  FoundResourceData,
} from '../models/entitlement.ts'
import { Expense } from '../models/expense.ts'
import { described, maybe } from '../schema/schemas.ts'
import { assignment, capabilities, names, nothing, oneAccount } from './row.ts'

const read = capabilities({ group: 'Read', level: 'read' })
const since = described(v.string(), 'ISO 8601')

export const READ = {
  list_accounts: read({
    summary: 'List the active and suspended accounts',
    input: v.object({ custom_attributes: names }),
    output: v.array(FoundAccountData),
  }),
  get_account: read({
    summary: 'Read one account',
    input: v.object({ account_id: accountId(), custom_attributes: names }),
    output: FoundAccountData,
  }),
  list_resources: read({
    summary: 'List the resources that entitlements belong to',
    input: nothing,
    output: v.array(FoundResourceData),
  }),
  list_entitlements: read({
    summary: 'List the entitlements that can be granted',
    input: v.object({ custom_attributes: names }),
    output: v.array(FoundEntitlementData),
  }),
  find_entitlement_associations: read({
    summary: 'List the entitlements that accounts hold',
    input: nothing,
    output: v.array(FoundEntitlementAssociation),
  }),
  get_account_entitlement_associations: read({
    summary: 'List the entitlements of one account',
    input: oneAccount,
    output: v.array(FoundEntitlementAssociation),
  }),
  get_last_activity: read({
    summary: 'Read when accounts were last used; accounts without activity are left out',
    input: v.object({ account_ids: v.array(accountId()) }),
    output: v.array(LastActivityData),
  }),
  list_activity_records: read({
    summary: 'List the activity log',
    input: nothing,
    output: v.array(ActivityRecord),
  }),
  list_expenses: read({
    summary: 'List expenses',
    input: v.object({
      filters: v.object({
        transaction_date: maybe(v.object({ start_date: maybe(since), end_date: maybe(since) })),
      }),
    }),
    output: v.array(Expense),
  }),
  list_applications: read({
    summary: 'List the applications of an identity provider',
    input: nothing,
    output: v.array(Application),
  }),
  list_applications_accounts: read({
    summary: 'List the assignments of accounts to applications',
    input: nothing,
    output: v.array(ApplicationAccount),
  }),
  list_applications_resources: read({
    summary: 'List the resources of the applications',
    input: nothing,
    output: v.array(ApplicationResourceData),
  }),
  list_applications_entitlements: read({
    summary: 'List the entitlements of the applications',
    input: v.object({ custom_attributes: names }),
    output: v.array(ApplicationEntitlementData),
  }),
  list_applications_entitlement_associations: read({
    summary: 'List the entitlements that accounts hold in the applications',
    input: nothing,
    output: v.array(ApplicationEntitlementAssociation),
  }),
  list_applications_activity_records: read({
    summary: 'List the activity within the applications',
    input: nothing,
    output: v.array(ApplicationActivityRecord),
  }),
  get_application: read({
    summary: 'Read one application',
    input: v.object({ application_instance_id: applicationInstanceId }),
    output: Application,
  }),
  get_application_account: read({
    summary: 'Read one assignment of an account to an application',
    input: assignment,
    output: ApplicationAccount,
  }),
} as const
