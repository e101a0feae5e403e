/**
 * The shape of connector.json: the description of a connector, readable without running any of its code. The
 * one interface that can never be broken later. Published as JSON Schema for editors.
 */

import * as v from 'valibot'
import { ERROR_CODES } from '../errors/error-codes.ts'
import { MANIFEST_LIMITS } from '../limits/ceilings.ts'
import { INPUTS } from '../limits/inputs.ts'
import { mapValues } from '../schema/keys.ts'
import { isOneOf } from '../schema/one-of.ts'
import { CREDENTIAL_KINDS } from './authentication.ts'
import { LDAP_OPERATION_NAMES } from './ldap.ts'
import { atMost, Fields, words } from './settings.ts'
import { SQL_DIALECT_NAMES, SqlStatement, SqlStatementName } from './sql.ts'

/** Version of the authors' interface in this runtime. `runtime` in a manifest is a range of it. */
export const INTERFACE_VERSION = '1.0.0'

/** Id under which inline webhooks are granted private addresses, as connectors are under theirs. */
export const WEBHOOKS_ID = 'webhooks'
/** Id under which sign-in providers are granted private addresses. */
export const SIGN_IN_ID = 'sign-in'

/** Ids that no connector may have: neighbouring paths, and other holders of address grants. */
const RESERVED_IDS = [
  'list_connector_app_ids',
  'list-connector-app-ids',
  WEBHOOKS_ID,
  SIGN_IN_ID,
] as const

/** HTTP methods that connectors may use. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof METHODS)[number]

/** Maximum size of connector.json, in bytes. */
export const MAX_MANIFEST_BYTES: number = INPUTS.manifest.maxBytes

/**
 * Maximum number of entries of the lists and tables of a manifest. The limits of settings are in settings.ts.
 */
const MAX_ENTRIES = { list: 100, types: 500, credentials: 20, categories: 50 } as const

const listOf = <S extends v.GenericSchema>(item: S, most: number = MAX_ENTRIES.list) =>
  v.pipe(v.array(item), v.maxLength(most, atMost(most)))

const tableOf = <S extends v.GenericSchema>(value: S) =>
  v.pipe(v.record(words, value), v.maxEntries(MAX_ENTRIES.list, atMost(MAX_ENTRIES.list)))

const positive = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(200))
const because = v.pipe(v.string(), v.minLength(10, 'say why in a sentence'), v.maxLength(1000))

/** Id of a connector. */
export const ConnectorId = v.pipe(
  v.string(),
  v.regex(
    /^[a-z][a-z0-9_-]{0,62}$/,
    'must look like `acme` or `acme-crm`: lower case letters, digits, - and _, at most 63',
  ),
  v.check((id) => !isOneOf(RESERVED_IDS, normalizeId(id)), 'is reserved'),
)

/** An entry for HTTP requests by `ctx.fetch`. */
export const EgressRule = v.strictObject({
  url: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
  methods: v.optional(v.pipe(listOf(v.picklist(METHODS)), v.minLength(1))),
  secrets: v.optional(listOf(words)),
})
export type EgressRule = v.InferOutput<typeof EgressRule>

const dnTemplate = v.pipe(v.string(), v.minLength(1), v.maxLength(2000))

/** An egress entry for a directory, used by `ctx.ldap`. */
export const LdapRule = v.strictObject({
  ldap: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
  base: dnTemplate,
  operations: v.optional(v.pipe(listOf(v.picklist(LDAP_OPERATION_NAMES)), v.minLength(1))),
  bind: v.optional(v.strictObject({ credential: words, dn: v.optional(dnTemplate) })),
  references: v.optional(listOf(dnTemplate)),
  password_form: v.optional(v.picklist(['rfc3062', 'unicodePwd'])),
  secrets: v.optional(listOf(words)),
})
export type LdapRule = v.InferOutput<typeof LdapRule>

/** Messages for missing fields of an egress entry for a database. */
const SQL_MISSING: Partial<Record<string, string>> = {
  '"dialect"': `missing: write ${SQL_DIALECT_NAMES.join(' or ')}`,
  '"database"': 'missing: write the name of the database, or {settings.database}',
  '"login"': 'missing: write { "credential": "auth" }, or the id of a credential of the kind basic',
}

/** An egress entry for a database, used by `ctx.sql`. */
export const SqlRule = v.strictObject(
  {
    sql: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
    dialect: v.picklist(SQL_DIALECT_NAMES),
    database: v.pipe(v.string(), v.minLength(1), v.maxLength(2000)),
    login: v.strictObject({ credential: words }),
    statements: v.optional(v.pipe(listOf(words), v.minLength(1))),
    secrets: v.optional(listOf(words)),
  },
  ({ expected, received }) =>
    SQL_MISSING[expected ?? ''] ?? `Expected ${expected} but received ${received}`,
)
export type SqlRule = v.InferOutput<typeof SqlRule>

/** An entry of `egress`: a target of `ctx.fetch`, `ctx.ldap` or `ctx.sql`. */
export type EgressEntry = EgressRule | LdapRule | SqlRule

const forms = v.union([EgressRule, LdapRule, SqlRule])
/** Members that identify the form of an entry: first its own name, then members that no other form has. */
const FORMS = [
  { names: ['ldap'], form: LdapRule },
  { names: ['sql'], form: SqlRule },
  { names: ['url'], form: EgressRule },
  { names: ['dialect', 'database', 'login', 'statements'], form: SqlRule },
  { names: ['base', 'bind', 'operations', 'references'], form: LdapRule },
] as const
/** Validates an entry by its intended form only, so that a finding names the wrong field. */
const EgressEntry: typeof forms = {
  ...forms,
  '~run': (dataset, config) => {
    const { value } = dataset
    const has = (name: string) => typeof value === 'object' && value !== null && name in value
    return (FORMS.find(({ names }) => names.some(has))?.form ?? EgressRule)['~run'](dataset, config)
  },
}

/** Reports whether an entry is for `ctx.ldap`. */
export const isLdapRule = (entry: EgressEntry): entry is LdapRule => 'ldap' in entry

/** Reports whether an entry is for `ctx.sql`. */
export const isSqlRule = (entry: EgressEntry): entry is SqlRule => 'sql' in entry

/** Reports whether an entry is for `ctx.fetch`. */
export const isUrlRule = (entry: EgressEntry): entry is EgressRule => 'url' in entry

const CredentialFields = tableOf(
  v.strictObject({
    title: v.optional(words),
    help: v.optional(words),
    default: v.optional(v.union([words, listOf(words)])),
  }),
)

const kind = v.picklist(CREDENTIAL_KINDS)

/** An `oauth` member: the host performs its OAuth flow. */
export const OAuthDeclaration = v.strictObject({
  flow: v.optional(
    v.union(
      [v.picklist(['CODE_FLOW', 'CLIENT_CREDENTIALS']), v.strictObject({ setting: words })],
      'write "CODE_FLOW", "CLIENT_CREDENTIALS" or { "setting": name }',
    ),
    'CODE_FLOW',
  ),
  authorization_url: v.optional(words),
  token_url: words,
  scopes: v.optional(tableOf(words)),
  client_authentication: v.optional(
    v.picklist(['CLIENT_SECRET_POST', 'CLIENT_SECRET_BASIC']),
    'CLIENT_SECRET_POST',
  ),
  request: v.optional(
    v.strictObject({
      method: v.optional(v.picklist(['GET', 'POST']), 'POST'),
      data: v.optional(v.picklist(['FORMDATA', 'JSON', 'QUERY']), 'FORMDATA'),
    }),
  ),
  pkce: v.optional(v.boolean(), false),
  bearer_types: v.optional(v.pipe(listOf(words), v.minLength(1))),
  capabilities: v.optional(
    v.strictObject({
      get_authorization_url: v.optional(v.boolean()),
      handle_authorization_callback: v.optional(v.boolean()),
      handle_client_credentials_request: v.optional(v.boolean()),
      refresh_access_token: v.optional(v.boolean()),
    }),
  ),
})

export type OAuthDeclaration = v.InferOutput<typeof OAuthDeclaration>

const pointer = v.strictObject({ json: words })
const place = v.union(
  [v.strictObject({ header: words }), pointer],
  'write { "header": name } or { "json": pointer }',
)

const Exchange = v.strictObject({
  request: v.strictObject({
    method: v.optional(v.picklist(METHODS), 'POST'),
    url: words,
    headers: v.optional(tableOf(words)),
    json: v.optional(v.unknown()),
    form: v.optional(tableOf(words)),
  }),
  capture: place,
  expires: v.optional(
    v.union(
      [pointer, v.strictObject({ seconds: positive })],
      'write { "json": pointer } or { "seconds": number }',
    ),
  ),
  use: v.strictObject({ header: words, value: v.optional(words) }),
})

/** The entry of a capability. */
export const CapabilityDeclaration = v.strictObject({
  egress: v.optional(listOf(EgressEntry)),
  reads_with: v.optional(listOf(v.picklist(METHODS))),
  because: v.optional(because),
  request_fields: v.optional(Fields),
  response_fields: v.optional(Fields),
})
export type CapabilityDeclaration = v.InferOutput<typeof CapabilityDeclaration>

/**
 * Requested limits, which the operator's ceilings override. The defaults are those of the design's manifest
 * page.
 */
export const Limits = v.strictObject(
  mapValues(MANIFEST_LIMITS, ({ default: wish, least }) =>
    v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(least)), wish),
  ),
)
export type Limits = v.InferOutput<typeof Limits>

/** Type of resources. */
export const ResourceType = v.strictObject({ type_id: words, type_label: words })
/** Type of entitlements. */
export const EntitlementType = v.strictObject({
  type_id: words,
  type_label: words,
  resource_type_id: words,
  min: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  max: v.optional(positive),
})

/** The whole manifest. Rules that need more than its shape are in connectors/registry/check-manifest.ts. */
export const Manifest = v.strictObject({
  $schema: v.optional(words),
  id: ConnectorId,
  version: shortText,
  runtime: shortText,
  name: v.optional(shortText),
  description: v.optional(v.pipe(v.string(), v.maxLength(2000))),
  vendor_domain: v.optional(shortText),
  logo: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^[a-zA-Z0-9_-]{1,60}\.(svg|png)$/,
        'must be a .svg or .png file beside connector.json',
      ),
    ),
  ),
  categories: v.optional(
    listOf(
      v.pipe(v.string(), v.regex(/^[A-Z][A-Z_]{1,40}$/, 'must look like COLLABORATION')),
      MAX_ENTRIES.categories,
    ),
  ),
  authentication_schema: v.optional(v.strictObject({ kind, fields: v.optional(CredentialFields) })),
  credentials: v.optional(
    v.pipe(
      listOf(
        v.strictObject({
          id: v.pipe(v.string(), v.regex(/^[a-zA-Z][a-zA-Z0-9_-]{0,62}$/, 'must look like `api`')),
          kind,
          title: v.optional(words),
          description: v.optional(words),
          optional: v.optional(v.boolean(), false),
          fields: v.optional(CredentialFields),
          oauth: v.optional(OAuthDeclaration),
        }),
        MAX_ENTRIES.credentials,
      ),
      v.minLength(1),
    ),
  ),
  oauth: v.optional(OAuthDeclaration),
  exchange: v.optional(Exchange),
  settings: v.optional(Fields, {}),
  egress: v.optional(listOf(EgressEntry), []),
  statements: v.optional(
    v.pipe(
      v.record(SqlStatementName, SqlStatement),
      v.maxEntries(MAX_ENTRIES.list, atMost(MAX_ENTRIES.list)),
    ),
    {},
  ),
  capabilities: tableOf(CapabilityDeclaration),
  resource_types: v.optional(listOf(ResourceType, MAX_ENTRIES.types), []),
  entitlement_types: v.optional(listOf(EntitlementType, MAX_ENTRIES.types), []),
  limits: v.optional(Limits, {}),
  consistency_ms: v.optional(
    v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(3_600_000)),
    0,
  ),
  errors_in_body: v.optional(
    v.strictObject({
      when: v.union(
        [
          v.strictObject({ json: words, equals: v.unknown() }),
          v.strictObject({ json: words, exists: v.boolean() }),
        ],
        'write { "json": pointer, "equals": value } or { "json": pointer, "exists": true }',
      ),
      code: words,
      map: tableOf(v.picklist(ERROR_CODES)),
    }),
  ),
  clear_secrets: v.optional(listOf(v.strictObject({ field: words, because })), []),
})
export type Manifest = v.InferOutput<typeof Manifest>

/** Returns an id in its canonical spelling. `-` and `_` are equivalent. */
export const normalizeId = (id: string): string => (id.includes('-') ? id.replaceAll('-', '_') : id)
