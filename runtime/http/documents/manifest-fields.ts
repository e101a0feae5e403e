import { MANIFEST_LIMITS } from '../../contract/limits/ceilings.ts'
import { entriesOf, tableOf } from '../../contract/schema/keys.ts'

const LIMIT_FIELDS = tableOf(
  entriesOf(MANIFEST_LIMITS).map(([name, { meaning }]) => [`limits.${name}` as const, meaning]),
)

/**
 * Meaning of every field of connector.json, by its path (`*` stands for any key; arrays add nothing). Editors
 * show these texts through the JSON Schema; the generated reference contains them.
 */
export const MANIFEST_FIELDS = {
  $schema: 'Where this file’s JSON Schema is, for editors',
  id: 'Name in addresses; `-` and `_` are one spelling',
  version: 'Version of the connector (semver)',
  runtime: 'Versions of the author’s interface it is made for (semver range), such as `^1.0.0`',
  name: 'Name for people',
  description: 'One or two sentences for people',
  vendor_domain: 'Domain of the vendor of the third-party system',
  logo: 'A .svg or .png file beside connector.json, at most 64 KiB; `info` tells it as a data: URL',
  categories: 'Such as COLLABORATION or IT_AND_SECURITY',
  authentication_schema: 'The one credential that callers send; not together with credentials',
  'authentication_schema.kind': 'Kind of the credential',
  'authentication_schema.fields': 'Titles, help and defaults of the kind’s own fields',
  'authentication_schema.fields.*.title': 'Name of the field in forms',
  'authentication_schema.fields.*.help': 'Where a person finds the value',
  'authentication_schema.fields.*.default': 'What the form holds at first',
  credentials: 'Several credentials, each with an id; not together with authentication_schema',
  'credentials.id': 'Name of the credential in calls and in `ctx.credentials`',
  'credentials.kind': 'Kind of the credential',
  'credentials.title': 'Name of the credential in forms',
  'credentials.description': 'What the credential is for',
  'credentials.optional': 'Whether callers may leave it out',
  'credentials.fields': 'Titles, help and defaults of the kind’s own fields',
  'credentials.oauth': 'How this credential is obtained by OAuth',
  oauth: 'OAuth by declaration: the host performs the OAuth capabilities',
  'oauth.flow': 'CODE_FLOW, CLIENT_CREDENTIALS, or the setting in which the tenant chooses',
  'oauth.flow.setting': 'Name of that setting: a string with both values as its `enum`',
  'oauth.authorization_url': 'Where a person gives consent; may hold `{settings.x}`',
  'oauth.token_url': 'Where tokens are given out; may hold `{settings.x}`',
  'oauth.scopes': 'Scopes by capability, separated by spaces',
  'oauth.client_authentication': 'Where the client’s id and secret are sent',
  'oauth.request': 'Form of the token request',
  'oauth.request.method': 'Method of the token request',
  'oauth.request.data':
    'Where its parameters stand: an urlencoded form, a JSON object, or the query',
  'oauth.pkce': 'Whether PKCE (S256) is used',
  'oauth.bearer_types':
    'What the provider writes for `token_type` where it gives bearer tokens and does not say so, such as `bot`',
  'oauth.capabilities':
    'Switches single OAuth capabilities off, to write them yourself: the code sees the secrets of its request, see `clear_secrets`',
  'oauth.capabilities.get_authorization_url': '`false`: the code makes the address of consent',
  'oauth.capabilities.handle_authorization_callback':
    '`false`: the code gets the tokens after consent',
  'oauth.capabilities.handle_client_credentials_request':
    '`false`: the code gets a token for client credentials',
  'oauth.capabilities.refresh_access_token': '`false`: the code renews access tokens',
  exchange:
    'A login or token exchange that the host performs, out of the connector’s sight: kept for the tenant, renewed before it expires and once on 401',
  'exchange.request':
    'The request that logs in: `url` under an entry of `egress`, `method` (POST), `headers`, and `json` or `form`; may hold `{auth.KIND.FIELD}`, `{credentials.ID.KIND.FIELD}`, `{settings.x}`, `{basic}`, `{sign.jwt}`, `{sign.service_account}`',
  'exchange.request.method': 'Method of that request',
  'exchange.request.url': 'Its address, under an entry of `egress`',
  'exchange.request.headers': 'Its headers, by name',
  'exchange.request.json': 'Its body as JSON; not together with `form`',
  'exchange.request.form': 'Its body as an urlencoded form; not together with `json`',
  'exchange.capture':
    'Where the token stands in the answer: `{ "header": name }` or `{ "json": pointer }`',
  'exchange.capture.header': 'Name of the header of the answer',
  'exchange.capture.json': 'JSON pointer into the answer, such as `/access_token`',
  'exchange.expires':
    'When the token ends: `{ "json": pointer }` to a time or a number of seconds, or `{ "seconds": n }`; default: an hour',
  'exchange.expires.json': 'JSON pointer to that time or number',
  'exchange.expires.seconds': 'How long every token lasts, in seconds',
  'exchange.use':
    'The `header` that carries it to every address that the credential may go to, and its `value` (`Bearer {exchange}` for authorization, else `{exchange}`); elsewhere write `ctx.exchange`',
  'exchange.use.header': 'Name of that header',
  'exchange.use.value': 'What it holds, with `{exchange}` in it',
  settings: 'What a tenant configures: a flat object of strings, integers and booleans',
  'settings.*.type': 'string, integer or boolean',
  'settings.*.title': 'Name of the setting in forms',
  'settings.*.help': 'What to write there',
  'settings.*.required': 'Whether it must be given; excludes default',
  'settings.*.default': 'Value when it is left out',
  'settings.*.secret': 'Whether the value is a secret, like a credential',
  'settings.*.pattern': 'Regular expression (RE2) that the whole value matches',
  'settings.*.format': 'url, hostname or email',
  'settings.*.enum': 'The values to choose from',
  'settings.*.min': 'Smallest value',
  'settings.*.max': 'Largest value',
  egress: 'Where it may connect; everything else is refused',
  'egress.url': 'An origin, with or without a path; `*` is one segment; may hold `{settings.x}`',
  'egress.methods': 'Default: GET and HEAD for capabilities that read, all for those that write',
  'egress.secrets':
    'Which secrets may go there (`auth`, a credential id, `settings.x`, `request`); default all',
  'egress.ldap':
    'For `ctx.ldap` instead of `url`: a directory, `ldaps://host`, or `ldap://host` with STARTTLS; may be `{settings.x}`',
  'egress.base':
    'The DN below which everything of it is reached; a setting stands for a whole DN, or for what follows `=`',
  'egress.operations':
    'search, modify, add, delete, modifyDN, password; default: search for capabilities that read, all for those that write',
  'egress.bind': 'Who signs in there; without it nobody does',
  'egress.bind.credential': 'A credential of the kind basic: its id, or `auth` for the single one',
  'egress.bind.dn':
    'The DN that signs in, where the user name is none: may hold `{username}` and settings',
  'egress.references':
    'Further DNs below which values such as those of `member` may lie; default: `base` alone',
  'egress.password_form':
    'How a password is set: rfc3062 (the default), or unicodePwd for Active Directory',
  'egress.sql':
    'For `ctx.sql` instead of `url`: a database server, `postgresql://host` or `mariadb://host`, without a path; may be `{settings.x}`',
  'egress.dialect': 'What the server speaks: postgresql, or mysql (MySQL and MariaDB)',
  'egress.database': 'The name of the database there; may hold `{settings.x}`',
  'egress.login': 'Who logs in there',
  'egress.login.credential': 'A credential of the kind basic: its id, or `auth` for the single one',
  'egress.statements':
    'Names of the `statements` that may be used there; default: those with `reads` for capabilities that read, all for those that write',
  statements: 'What `ctx.sql` may ask of a database, by name',
  'statements.*.text':
    'One statement, with `$1` for parameters and `{identifier:name}`, `{literal:name}`, `{integer:name}`, `{password:name}` where parameters cannot stand',
  'statements.*.parameters': 'string, integer, number, boolean or strings, one for each parameter',
  'statements.*.reads':
    'Whether it only reads: it runs in a transaction in which the server refuses every write',
  capabilities: 'Exactly what the code implements, by name',
  'capabilities.*.egress': 'Replaces the connector’s list for this capability',
  'capabilities.*.reads_with':
    'Methods that a reading capability sends in addition to GET and HEAD',
  'capabilities.*.because': 'Why',
  'capabilities.*.request_fields':
    'Further fields of create_account or update_account; each says what a setting says: `type`, `title`, `required`, `secret` ...',
  'capabilities.*.response_fields': 'Further fields of what they answer, in the same words',
  resource_types: 'Kinds of resources; the global one, an empty id, is always there',
  'resource_types.type_id': 'The value of `resource_type`',
  'resource_types.type_label': 'Name for people',
  entitlement_types: 'Kinds of entitlements',
  'entitlement_types.type_id': 'The value of `entitlement_type`',
  'entitlement_types.type_label': 'Name for people',
  'entitlement_types.resource_type_id':
    'The kind of resource it belongs to; empty for the global one',
  'entitlement_types.min': 'How many of them every account must hold',
  'entitlement_types.max': 'How many of them an account may hold; any number when left out',
  limits: 'Wishes; the operator’s ceilings win',
  ...LIMIT_FIELDS,
  consistency_ms:
    'How long a write may take to show in reads, in milliseconds (for callers; not waited for in this version)',
  errors_in_body:
    'Errors of systems that always answer 200; looked for in answers of at most 256 KiB',
  'errors_in_body.when':
    'Which answers are errors: `{ "json": pointer, "equals": value }`, or `{ "json": pointer, "exists": true }` where a member tells by being there',
  'errors_in_body.when.json': 'JSON pointer to the member that tells, such as `/ok`',
  'errors_in_body.when.equals': 'The value that it has in errors, such as `false`',
  'errors_in_body.when.exists':
    'Whether errors have the member (`true`) or lack it (`false`); one that is null is there',
  'errors_in_body.code': 'JSON pointer of the system’s own code',
  'errors_in_body.map': 'The system’s own codes -> standard error codes',
  clear_secrets:
    'Secrets that the code must really see, with the reasons; not served until the operator grants each by `KEYWAY_CLEAR_SECRETS`',
  'clear_secrets.field': 'Such as `token.token`, `settings.key`, `request.password`',
  'clear_secrets.because': 'Why no helper will do',
} as const satisfies Record<string, string>
