/**
 * LDAP as a connector sees it: operations, filters as structures, and the error for each result code. A
 * request of `ctx.ldap` leaves the sandbox as a fetch of `ldap:` with a JSON body. The host chooses the
 * server by the manifest.
 *
 * Source: RFC 4511 (operations, result codes), RFC 2696 (pages), RFC 3062 (passwords).
 */
import * as v from 'valibot'
import type { ErrorCode } from '../errors/error-codes.ts'
import { keysOf } from '../schema/keys.ts'
import { isRecord } from '../schema/record.ts'
import { LDAP_METHODS, type LdapFilter } from './ldap-context.ts'

/** Operations by their name in a manifest. `method` is the name in the sandbox's requests and in records. */
export const LDAP_OPERATIONS = {
  search: { method: LDAP_METHODS.search, writes: false },
  modify: { method: LDAP_METHODS.modify, writes: true },
  add: { method: LDAP_METHODS.add, writes: true },
  delete: { method: LDAP_METHODS.delete, writes: true },
  modifyDN: { method: LDAP_METHODS.modifyDN, writes: true },
  password: { method: LDAP_METHODS.password, writes: true },
} as const

/** Name of an operation. */
export type LdapOperation = keyof typeof LDAP_OPERATIONS
/** Names of the operations, in the order of the table. */
export const LDAP_OPERATION_NAMES = keysOf(LDAP_OPERATIONS)

/** Returns the operation of a method, or null. */
export const operationOf = (method: string): LdapOperation | null =>
  LDAP_OPERATION_NAMES.find((name) => LDAP_OPERATIONS[name].method === method) ?? null

/** Limits of one request and its reply. Sizes in characters or bytes, as the name says. */
export const LDAP_LIMITS = {
  /** Entries of one page. */
  maxPage: 1000,
  defaultPage: 100,
  maxDnChars: 8192,
  maxFilterDepth: 16,
  maxFilterNodes: 2000,
  maxAttributes: 200,
  /** Attribute values in one request. */
  maxValues: 20_000,
  maxValueChars: 1024 * 1024,
  maxCursorChars: 200,
  /**
   * Bytes of one reply as received. When secrets are replaced in it, it also meets `maxReplyBytes` of
   * EGRESS_LIMITS.
   */
  maxReplyBytes: 16 * 1024 * 1024,
  /** Values of one reply. Names and lists count as values. */
  maxReplyValues: 200_000,
  /** Referrals that a reply lists. */
  maxReferrals: 20,
  /** Further requests for the values of one attribute that a server returns in ranges. */
  maxRanges: 64,
} as const

const AttributeName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9.;=_*-]{0,254}$/, 'is no attribute name'),
)
const Dn = v.pipe(v.string(), v.maxLength(LDAP_LIMITS.maxDnChars))
/** Text, or bytes as `{ base64 }`. */
const Value = v.union([
  v.pipe(v.string(), v.maxLength(LDAP_LIMITS.maxValueChars)),
  v.strictObject({
    base64: v.pipe(v.string(), v.base64(), v.maxLength(LDAP_LIMITS.maxValueChars)),
  }),
])
const Pair = v.tuple([AttributeName, Value])

const Text = v.tuple([AttributeName, v.pipe(v.string(), v.minLength(1), v.maxLength(4096))])
const NO_FILTER =
  'is no filter: write { eq: [name, value] }, { present: name }, { and: [...] } or another of the SDK reference'
const Leaf = v.union(
  [
    v.strictObject({ present: AttributeName }),
    v.strictObject({ eq: Pair }),
    v.strictObject({ ge: Text }),
    v.strictObject({ le: Text }),
    v.strictObject({ startsWith: Text }),
    v.strictObject({ endsWith: Text }),
    v.strictObject({ contains: Text }),
    v.strictObject({ bit: v.tuple([AttributeName, v.pipe(v.number(), v.safeInteger())]) }),
    v.strictObject({ inChain: v.tuple([AttributeName, Dn]) }),
  ],
  NO_FILTER,
)

/** Returns why a value is not a filter within the limits, or null if it is one. Visits each node once. */
function filterFault(value: unknown): string | null {
  let nodes = 0
  const fault = (one: unknown, depth: number): string | null => {
    nodes += 1
    if (nodes > LDAP_LIMITS.maxFilterNodes)
      return `has more than ${LDAP_LIMITS.maxFilterNodes} parts`
    if (depth > LDAP_LIMITS.maxFilterDepth)
      return `is nested deeper than ${LDAP_LIMITS.maxFilterDepth}`
    const branches = branchesOf(one)
    if (branches === null) return v.is(Leaf, one) ? null : NO_FILTER
    for (const branch of branches) {
      const found = fault(branch, depth + 1)
      if (found !== null) return found
    }
    return null
  }
  return fault(value, 1)
}

function branchesOf(one: unknown): readonly unknown[] | null {
  if (!isRecord(one) || Object.keys(one).length !== 1) return null
  const { and, or, not } = one
  if (not !== undefined) return [not]
  const all = and ?? or
  return Array.isArray(all) && all.length > 0 ? all : null
}

const Filter = v.pipe(
  v.custom<LdapFilter>(
    (value) => filterFault(value) === null,
    ({ input }) => filterFault(input) ?? '',
  ),
)

const Attributes = v.pipe(
  v.record(AttributeName, v.array(Value)),
  v.maxEntries(LDAP_LIMITS.maxAttributes),
)
const Change = v.pipe(
  v.union(
    [
      v.strictObject({ add: Attributes }),
      v.strictObject({ replace: Attributes }),
      v.strictObject({ delete: Attributes }),
    ],
    'is no change: write one of { add: { name: [values] } }, { replace: ... } and { delete: ... }; values are strings or { base64 }',
  ),
)

const PageSize = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(LDAP_LIMITS.maxPage))

/** Bodies of the requests of `ctx.ldap`, by operation. */
export const LDAP_REQUESTS = {
  search: v.strictObject({
    base: v.nullish(Dn),
    scope: v.optional(v.picklist(['base', 'one', 'sub']), 'sub'),
    filter: v.optional(Filter, { present: 'objectClass' }),
    attributes: v.optional(v.pipe(v.array(AttributeName), v.maxLength(LDAP_LIMITS.maxAttributes))),
    binary: v.optional(v.pipe(v.array(AttributeName), v.maxLength(LDAP_LIMITS.maxAttributes)), []),
    page: v.optional(
      v.strictObject({
        size: v.nullish(PageSize),
        cursor: v.nullish(v.pipe(v.string(), v.maxLength(LDAP_LIMITS.maxCursorChars))),
        ahead: v.nullish(PageSize),
      }),
      {},
    ),
  }),
  modify: v.strictObject({ dn: Dn, changes: v.pipe(v.array(Change), v.maxLength(200)) }),
  add: v.strictObject({ dn: Dn, attributes: Attributes }),
  delete: v.strictObject({ dn: Dn }),
  modifyDN: v.strictObject({ dn: Dn, to: Dn }),
  password: v.strictObject({
    dn: Dn,
    value: v.pipe(v.string(), v.minLength(1), v.maxLength(1024)),
  }),
} as const
/** A request with its operation. */
export type LdapRequest<O extends LdapOperation = LdapOperation> = {
  [K in O]: { operation: K } & v.InferOutput<(typeof LDAP_REQUESTS)[K]>
}[O]

/** Attributes with binary values, in lower case. Attributes with the option `;binary` are binary, too. */
export const BINARY_ATTRIBUTES: readonly string[] = [
  'objectguid',
  'objectsid',
  'jpegphoto',
  'thumbnailphoto',
  'usercertificate',
  'cacertificate',
  'userpkcs12',
  'sidhistory',
  'msexchmailboxguid',
]

/**
 * Attributes whose values are DNs, in lower case: those that give somebody rights, or exempt from a policy. The
 * values must lie within the egress entry's `base` and `references`. Attributes of OpenLDAP, 389 Directory
 * Server, FreeIPA and Active Directory follow those of RFC 4519.
 */
export const DN_ATTRIBUTES: readonly string[] = [
  'member',
  'uniquemember',
  'memberof',
  'owner',
  'manager',
  'secretary',
  'seealso',
  'roleoccupant',
  'managedby',
  'aliasedobjectname',
  'aliasedentryname',
  'pwdpolicysubentry',
  'nsroledn',
  'memberuser',
  'memberhost',
  'memberservice',
  'membermanager',
  'publicdelegates',
  'altrecipient',
  'msds-psoappliesto',
]

/**
 * Attributes whose values are URLs of entries, in lower case: group searches (`memberURL`), sources that a
 * directory takes entries from, and referrals. They are checked as DNs are, and must not name another server.
 */
export const URL_ATTRIBUTES: readonly string[] = ['memberurl', 'labeleduri', 'ref']

/** Attributes that hold passwords, in lower case. Only the operation `password` writes them. */
export const PASSWORD_ATTRIBUTES: readonly string[] = [
  'userpassword',
  'unicodepwd',
  'authpassword',
  'dbcspwd',
  'sambantpassword',
  'sambalmpassword',
  'krbprincipalkey',
]

type Result = {
  name: string
  wire: ErrorCode
  /** Closest HTTP status, for records, metrics and cases. */
  status: number
}

/** Result codes other than success, and the error of each. Any other code becomes `api_error`. */
export const LDAP_RESULTS: Readonly<Record<number, Result>> = {
  1: { name: 'operationsError', wire: 'api_error', status: 500 },
  2: { name: 'protocolError', wire: 'client_call_error', status: 400 },
  3: { name: 'timeLimitExceeded', wire: 'request_timeout', status: 504 },
  4: { name: 'sizeLimitExceeded', wire: 'bad_request', status: 413 },
  7: { name: 'authMethodNotSupported', wire: 'unauthenticated', status: 401 },
  8: { name: 'strongerAuthRequired', wire: 'unauthenticated', status: 401 },
  10: { name: 'referral', wire: 'unsupported_operation', status: 421 },
  11: { name: 'adminLimitExceeded', wire: 'permission_denied', status: 403 },
  12: { name: 'unavailableCriticalExtension', wire: 'unsupported_operation', status: 501 },
  13: { name: 'confidentialityRequired', wire: 'connection_rejected', status: 403 },
  16: { name: 'noSuchAttribute', wire: 'not_found', status: 404 },
  17: { name: 'undefinedAttributeType', wire: 'invalid_value', status: 422 },
  18: { name: 'inappropriateMatching', wire: 'client_call_error', status: 400 },
  19: { name: 'constraintViolation', wire: 'invalid_value', status: 422 },
  20: { name: 'attributeOrValueExists', wire: 'bad_request', status: 409 },
  21: { name: 'invalidAttributeSyntax', wire: 'invalid_value', status: 422 },
  32: { name: 'noSuchObject', wire: 'not_found', status: 404 },
  33: { name: 'aliasProblem', wire: 'api_error', status: 500 },
  34: { name: 'invalidDNSyntax', wire: 'invalid_value', status: 422 },
  48: { name: 'inappropriateAuthentication', wire: 'unauthenticated', status: 401 },
  49: { name: 'invalidCredentials', wire: 'unauthenticated', status: 401 },
  50: { name: 'insufficientAccessRights', wire: 'permission_denied', status: 403 },
  51: { name: 'busy', wire: 'rate_limit', status: 429 },
  52: { name: 'unavailable', wire: 'service_error', status: 503 },
  53: { name: 'unwillingToPerform', wire: 'unsupported_operation', status: 422 },
  54: { name: 'loopDetect', wire: 'api_error', status: 500 },
  64: { name: 'namingViolation', wire: 'invalid_value', status: 422 },
  65: { name: 'objectClassViolation', wire: 'invalid_value', status: 422 },
  66: { name: 'notAllowedOnNonLeaf', wire: 'bad_request', status: 409 },
  67: { name: 'notAllowedOnRDN', wire: 'bad_request', status: 409 },
  68: { name: 'entryAlreadyExists', wire: 'bad_request', status: 409 },
  69: { name: 'objectClassModsProhibited', wire: 'unsupported_operation', status: 422 },
  71: { name: 'affectsMultipleDSAs', wire: 'unsupported_operation', status: 422 },
  80: { name: 'other', wire: 'api_error', status: 500 },
}

/** Returns the row of a result code. For an unknown code, the row's name contains the number. */
export const ldapResultOf = (code: number): Result =>
  LDAP_RESULTS[code] ?? { name: `result${code}`, wire: 'api_error', status: 500 }

/**
 * Reasons for a failed sign-in, by the code that Active Directory adds to `invalidCredentials`: `... error,
 * data 533, v1db1`.
 *
 * Source: MS-ERREF section 2.2 (the numbers in hexadecimal).
 */
const SIGN_IN_REASONS: Readonly<Record<string, string>> = {
  '525': 'there is no such user',
  '52e': 'the user is unknown, or the password is wrong',
  '530': 'the user may not sign in at this time',
  '531': 'the user may not sign in from here',
  '532': 'the password has expired',
  '533': 'the account is disabled',
  '701': 'the account has expired',
  '773': 'the password must be changed first',
  '775': 'the account is locked',
}

/**
 * Returns the meaning of Active Directory's diagnostic message as the end of a sentence; empty if it contains
 * no known reason.
 */
export function signInReason(said: string): string {
  const number = /AcceptSecurityContext error, data ([0-9a-f]{1,8})\b/.exec(said)?.[1]
  const reason = number === undefined ? undefined : SIGN_IN_REASONS[number]
  return reason === undefined ? '' : `: ${reason}`
}

/** Returns the code of a result's name, which cases use; null for an unknown name. */
export function codeNamed(name: string): number | null {
  const found = Object.entries(LDAP_RESULTS).find(([, row]) => row.name === name)
  const code = found?.[0] ?? /^result(\d{1,5})$/.exec(name)?.[1]
  return code === undefined ? null : Number(code)
}
