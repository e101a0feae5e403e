/**
 * What callers rely on beside the shapes of requests and responses: what a connector's author has to
 * know and no schema says. Shown in the generated reference.
 */
export const CONVENTIONS: readonly [about: string, rule: string][] = [
  [
    'Credentials that do not work',
    '`validate_credentials` throws, `unauthenticated` or `permission_denied`; it never answers `valid: false`. Ask the system something that needs the rights that the other capabilities need.',
  ],
  [
    'The tenant’s id',
    '`unique_tenant_id` names the account at the system, not the user that signs in: the same for every credential, and for as long as the tenant lives.',
  ],
  [
    'Ids',
    'An account is known by `integration_specific_id`; an entitlement by its id and its resource’s id together. Associations tell no type: two types of one resource must not share an id.',
  ],
  [
    'The global resource',
    'What belongs to the whole system has the resource id `""` and the resource type `""`. It is never listed.',
  ],
  [
    'Pages',
    '`page.size` is a wish: a page may hold fewer items, or none with a further cursor; where several come of one (a group and its members), more. A short list may be answered whole. Where a system gives its list only whole, `keyPage` cuts it. Where it takes an offset and a limit, `offsetListing` reads it.',
  ],
  [
    'Doing it twice',
    '`assign_entitlement`, `unassign_entitlement`, `activate_account` and `deactivate_account` succeed when there is nothing left to do. `delete_account` of an account that is gone is `not_found`.',
  ],
  [
    'What is there already',
    '`create_account` never overwrites. A name that is taken is `api_error` with the system’s `status_code` and `app_error_code`; where the system overwrites without a word, look first, or send `If-None-Match: *`.',
  ],
  [
    'All or nothing',
    '`create_account` with entitlements that cannot be granted leaves no account behind. `allOrNothing` undoes what was done.',
  ],
  [
    'Changing part of a record',
    'Where a system only replaces whole records, two calls at once lose one’s change: `limits.concurrency: 1` in connector.json lets the calls of a tenant wait for each other.',
  ],
  [
    'Secrets of the call',
    'A connector holds none: each is a placeholder, other letters and digits in every call, and its value is put in when the request leaves, in header values, the query, urlencoded forms, strings of JSON and the pair of Basic, where it stands alone. Elsewhere the request is refused, with what to do instead. Tokens and signatures are made by `ctx.sign`, a login by `exchange` in connector.json.',
  ],
  [
    'Secrets of the system',
    'What a system echoes of the call’s secrets (12 characters or more) comes back as their placeholders, as it is, percent-encoded, in base64, in JSON and in HTML; what it makes of them otherwise cannot be found. What the system tells besides, such as hashes of passwords, the connector must keep out of `ctx.raw`, messages and answers.',
  ],
  [
    'Initial passwords',
    'A field of its own in `capabilities.create_account.request_fields`, with `"secret": true`.',
  ],
]
