/**
 * CAPABILITIES: every operation a connector may implement, once. Types for authors, validation both
 * ways, OpenAPI, docs, conformance tests are read from this table.
 *
 * Source: service.md section 4.1; connector-interface.md sections 1.2 to 1.6. Standard names whose
 * shapes are not public (connected_info, list_updated_accounts, get_data_recency,
 * validate_credential_config and the graph capabilities) answer `not_implemented`.
 */
import * as v from 'valibot'
import {
  AccountStatus,
  ActivityRecord,
  ApplicationActivityRecord,
  accountId,
  CustomAttributeSchema,
  FoundAccountData,
  LastActivityData,
} from './models/account.ts'
import { Application, ApplicationAccount } from './models/application.ts'
import {
  ApplicationEntitlementAssociation,
  ApplicationEntitlementData,
  ApplicationResourceData,
  applicationInstanceId,
  CreateAccountEntitlement,
  FoundEntitlementAssociation,
  FoundEntitlementData,
  FoundResourceData,
} from './models/entitlement.ts'
import { Expense } from './models/expense.ts'
import { freeObject, stringMap } from './models/free-object.ts'
import { OauthCredentials } from './models/oauth.ts'
import { maybe, nullable } from './optional.ts'

export type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>

type CapabilityRow = {
  summary: string
  group: 'Learning' | 'Read' | 'OAuth' | 'Write'
  /** read | write: which methods egress allows by default, and whether a call may be repeated. */
  level: 'read' | 'write'
  /** The envelope has no auth and no credentials (the OAuth capabilities). */
  plain?: true
  /** A connector may add fields of its own to request and response. */
  extensible?: true
  input: AnySchema
  output: AnySchema
}

const capability = <const T extends CapabilityRow>(row: T): T => row

const nothing = v.object({})
const secretText = v.pipe(v.string(), v.metadata({ secret: true, fieldType: 'SECRET' }))
const done = v.pipe(
  v.literal(true),
  v.metadata({ description: 'Failure is an error, never false' }),
)
const names = maybe(
  v.pipe(v.array(v.string()), v.metadata({ description: 'Custom attributes to include' })),
)
const read = { group: 'Read', level: 'read' } as const
const write = { group: 'Write', level: 'write' } as const
const oauth = { group: 'OAuth', level: 'write', plain: true } as const
const credentialId = maybe(
  v.pipe(v.string(), v.metadata({ description: 'Which of several credentials' })),
)
const oneAccount = v.object({ account_id: accountId() })
const grant = {
  account_integration_specific_id: accountId(),
  resource_integration_specific_id: v.pipe(
    v.string(),
    v.metadata({ description: 'Empty for the global resource' }),
  ),
  resource_type: v.string(),
  entitlement_type: v.string(),
  entitlement_integration_specific_id: v.string(),
}
const assignment = v.object({
  application_instance_id: applicationInstanceId,
  account_id: accountId(),
})
const outcome = v.strictObject({
  success: v.boolean(),
  reason: nullable(v.pipe(v.string(), v.metadata({ description: 'Why it did not succeed' }))),
})
const since = v.pipe(v.string(), v.metadata({ description: 'ISO 8601' }))

export const CAPABILITIES = {
  // Learning
  validate_credentials: capability({
    ...read,
    summary: 'Check the credentials and learn the tenant’s id',
    input: nothing,
    output: v.strictObject({
      valid: v.boolean(),
      unique_tenant_id: v.pipe(
        v.string(),
        v.metadata({ description: 'Stable for the tenant’s life' }),
      ),
    }),
  }),
  list_custom_attributes_schema: capability({
    ...read,
    group: 'Learning',
    summary: 'List the custom attributes that may be asked for',
    input: nothing,
    output: v.array(CustomAttributeSchema),
  }),

  // Read
  list_accounts: capability({
    ...read,
    summary: 'List the active and suspended accounts',
    input: v.object({ custom_attributes: names }),
    output: v.array(FoundAccountData),
  }),
  get_account: capability({
    ...read,
    summary: 'Read one account',
    input: v.object({ account_id: accountId(), custom_attributes: names }),
    output: FoundAccountData,
  }),
  list_resources: capability({
    ...read,
    summary: 'List the resources that entitlements belong to',
    input: nothing,
    output: v.array(FoundResourceData),
  }),
  list_entitlements: capability({
    ...read,
    summary: 'List everything that can be granted',
    input: v.object({ custom_attributes: names }),
    output: v.array(FoundEntitlementData),
  }),
  find_entitlement_associations: capability({
    ...read,
    summary: 'List who holds what',
    input: nothing,
    output: v.array(FoundEntitlementAssociation),
  }),
  get_account_entitlement_associations: capability({
    ...read,
    summary: 'List what one account holds',
    input: oneAccount,
    output: v.array(FoundEntitlementAssociation),
  }),
  get_last_activity: capability({
    ...read,
    summary: 'When the accounts were last used; accounts without activity are missing',
    input: v.object({ account_ids: v.array(accountId()) }),
    output: v.array(LastActivityData),
  }),
  list_activity_records: capability({
    ...read,
    summary: 'List the activity log',
    input: nothing,
    output: v.array(ActivityRecord),
  }),
  list_expenses: capability({
    ...read,
    summary: 'List expenses',
    input: v.object({
      filters: v.object({
        transaction_date: maybe(v.object({ start_date: maybe(since), end_date: maybe(since) })),
      }),
    }),
    output: v.array(Expense),
  }),
  list_applications: capability({
    ...read,
    summary: 'List the applications of an identity provider',
    input: nothing,
    output: v.array(Application),
  }),
  list_applications_accounts: capability({
    ...read,
    summary: 'List which account is assigned to which application',
    input: nothing,
    output: v.array(ApplicationAccount),
  }),
  list_applications_resources: capability({
    ...read,
    summary: 'List the resources of the applications',
    input: nothing,
    output: v.array(ApplicationResourceData),
  }),
  list_applications_entitlements: capability({
    ...read,
    summary: 'List the entitlements of the applications',
    input: v.object({ custom_attributes: names }),
    output: v.array(ApplicationEntitlementData),
  }),
  list_applications_entitlement_associations: capability({
    ...read,
    summary: 'List who holds what in the applications',
    input: nothing,
    output: v.array(ApplicationEntitlementAssociation),
  }),
  list_applications_activity_records: capability({
    ...read,
    summary: 'List the activity within the applications',
    input: nothing,
    output: v.array(ApplicationActivityRecord),
  }),
  get_application: capability({
    ...read,
    summary: 'Read one application',
    input: v.object({ application_instance_id: applicationInstanceId }),
    output: Application,
  }),
  get_application_account: capability({
    ...read,
    summary: 'Read one assignment of an account to an application',
    input: assignment,
    output: ApplicationAccount,
  }),

  // OAuth
  get_authorization_url: capability({
    ...oauth,
    summary: 'Make the address where a person gives consent',
    input: v.object({
      client_id: v.string(),
      scopes: v.array(v.string()),
      redirect_uri: v.string(),
      state: v.string(),
      form_data: maybe(stringMap()),
      credential_id: credentialId,
    }),
    output: v.strictObject({
      authorization_url: v.string(),
      code_verifier: nullable(
        v.pipe(v.string(), v.metadata({ description: 'With PKCE: hand it back at the callback' })),
      ),
    }),
  }),
  handle_authorization_callback: capability({
    ...oauth,
    summary: 'Exchange the code of a callback for tokens',
    input: v.object({
      client_id: v.string(),
      client_secret: secretText,
      redirect_uri_with_code: v.pipe(
        secretText,
        v.metadata({ description: 'The whole callback address, `?code=` included' }),
      ),
      state: maybe(v.string()),
      code_verifier: maybe(secretText),
      credential_id: credentialId,
    }),
    output: OauthCredentials,
  }),
  handle_client_credentials_request: capability({
    ...oauth,
    summary: 'Get a token for the client itself',
    input: v.object({
      client_id: v.string(),
      client_secret: secretText,
      scopes: v.array(v.string()),
      credential_id: credentialId,
    }),
    output: OauthCredentials,
  }),
  refresh_access_token: capability({
    ...oauth,
    summary: 'Exchange a refresh token for a new access token',
    input: v.object({
      client_id: v.string(),
      client_secret: secretText,
      refresh_token: secretText,
      state: maybe(v.string()),
      credential_id: credentialId,
    }),
    output: OauthCredentials,
  }),

  // Write
  create_account: capability({
    ...write,
    extensible: true,
    summary: 'Create an account',
    input: v.object({
      entitlements: v.pipe(
        v.array(CreateAccountEntitlement),
        v.metadata({
          description: 'Only those of types whose min is above 0; others are assigned afterwards',
        }),
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
  update_account: capability({
    ...write,
    extensible: true,
    summary: 'Change an account; the connector says which fields there are',
    input: v.object({ id: accountId() }),
    output: v.strictObject({ id: accountId() }),
  }),
  activate_account: capability({
    ...write,
    summary: 'Make an account usable; success if it already is',
    input: oneAccount,
    output: v.strictObject({ status: AccountStatus, activated: v.boolean() }),
  }),
  deactivate_account: capability({
    ...write,
    summary: 'Make an account unusable; it stays in the system',
    input: oneAccount,
    output: v.strictObject({ status: AccountStatus, deactivated: v.boolean() }),
  }),
  delete_account: capability({
    ...write,
    summary: 'Delete an account for good',
    input: oneAccount,
    output: v.strictObject({ status: AccountStatus, deleted: v.boolean() }),
  }),
  assign_entitlement: capability({
    ...write,
    summary: 'Grant an entitlement to an account',
    input: v.object(grant),
    output: v.strictObject({ assigned: done }),
  }),
  unassign_entitlement: capability({
    ...write,
    summary: 'Take an entitlement from an account',
    input: v.object(grant),
    output: v.strictObject({ unassigned: done }),
  }),
  assign_application: capability({
    ...write,
    summary: 'Assign an application to an account',
    input: assignment,
    output: v.strictObject({
      assigned: v.pipe(
        v.boolean(),
        v.metadata({ description: 'Assigned in the identity provider' }),
      ),
      provisioned: v.pipe(
        v.boolean(),
        v.metadata({ description: 'The account exists in the application' }),
      ),
    }),
  }),
  unassign_application: capability({
    ...write,
    summary: 'Take an application from an account',
    input: assignment,
    output: v.strictObject({ unassigned: done }),
  }),
  assign_application_entitlement: capability({
    ...write,
    summary: 'Grant an entitlement of an application',
    input: v.object({ ...grant, application_instance_id: applicationInstanceId }),
    output: v.strictObject({ assigned: done }),
  }),
  unassign_application_entitlement: capability({
    ...write,
    summary: 'Take an entitlement of an application',
    input: v.object({ ...grant, application_instance_id: applicationInstanceId }),
    output: v.strictObject({ unassigned: done }),
  }),
  transfer_data: capability({
    ...write,
    summary: 'Hand what one account owns to another',
    input: v.object({ source_account_id: accountId(), target_account_id: accountId() }),
    output: outcome,
  }),
  release_resources: capability({
    ...write,
    summary: 'Give back what an account occupies',
    input: oneAccount,
    output: outcome,
  }),
  downgrade_license: capability({
    ...write,
    summary: 'Move an account to a cheaper licence',
    input: oneAccount,
    output: outcome,
  }),
} as const

/** The name of a capability, such as `list_accounts`. */
export type CapabilityName = keyof typeof CAPABILITIES
export const CAPABILITY_NAMES = Object.keys(CAPABILITIES) as CapabilityName[]

/** What a handler gets: the request after defaults, nulls gone. */
export type Input<N extends CapabilityName> = v.InferOutput<(typeof CAPABILITIES)[N]['input']>
/** What a handler returns: optional members may be left out. */
export type Output<N extends CapabilityName> = v.InferInput<(typeof CAPABILITIES)[N]['output']>

/** Whether a name is a capability that this table has. */
export const isCapability = (name: string): name is CapabilityName =>
  Object.hasOwn(CAPABILITIES, name)
