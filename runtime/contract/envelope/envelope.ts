/**
 * The HTTP boundary of a capability: reads the request envelope and writes the bytes of the response. Input
 * is read tolerantly (unknown members are dropped, null means absent); output is exact.
 *
 * Source: service.md sections 2.1, 2.2, 7.1; connector-interface.md section 1.1.
 */

import * as v from 'valibot'
import {
  AUTHENTICATION,
  type AuthCredential,
  type CredentialKind,
  credentialOf,
} from '../connector/authentication.ts'
import type { Manifest } from '../connector/manifest.ts'
import { describeIssues, parseOptionsFor } from '../connector/payload.ts'
import { boundSecrets } from '../connector/secret-size.ts'
import { quietMembers } from '../connector/secrets.ts'
import { ERROR_CODES, type ErrorCode } from '../errors/error-codes.ts'
import { ERRORS, RuntimeError } from '../errors/errors.ts'
import { deeperThan, MAX_DEPTH } from '../schema/depth.ts'
import { notJson } from '../schema/json-text.ts'
import { misplacedArrays } from '../schema/misplaced-arrays.ts'
import { isOneOf } from '../schema/one-of.ts'
import { placeAt } from '../schema/place.ts'
import { isObject, membersOf } from '../schema/record.ts'
import { anyObject } from '../schema/schemas.ts'
import type { AnySchema } from '../schema/shape.ts'
import {
  anyCredentials,
  commonMembers,
  type ErrorResponse,
  MAX_PAGE_SIZE,
} from './envelope-schemas.ts'

const plainEnvelope = v.object({ request: anyObject(), ...commonMembers })
const authenticatedEnvelope = v.object({ ...plainEnvelope.entries, ...anyCredentials })

/** A capability call in its final, parsed form. Later code need not check whether a member is present. */
export type Call = {
  request: unknown
  settings: Record<string, unknown>
  auth: AuthCredential | null
  /** By credential id; null if the connector takes a single credential. */
  credentials: Record<string, AuthCredential> | null
  page: { token: string | null; size: number | null }
  includeRawData: boolean
}

type Expected = {
  plain: boolean
  request: AnySchema
  settings: AnySchema
  manifest: Pick<Manifest, 'authentication_schema' | 'credentials' | 'settings'>
}

/**
 * Parses a body in the order of connector-interface.md section 1.1: body, auth or credentials, settings.
 *
 * @throws body_not_json, body_too_deep, request_invalid, page_size_invalid, credentials_invalid,
 *   settings_invalid
 */
export function parseCall(text: string, expected: Expected): Call {
  return judgeCall(parseBody(text), text.length, expected)
}

/**
 * Validates a body that is already parsed.
 *
 * @param textLength Length of the body's text, in characters
 * @throws request_invalid, page_size_invalid, credentials_invalid, settings_invalid
 */
export function judgeCall(value: unknown, textLength: number, expected: Expected): Call {
  const envelope = expected.plain ? plainEnvelope : authenticatedEnvelope
  const thorough = parseOptionsFor(textLength)
  const parsed = v.safeParse(envelope, value, thorough)
  const request = v.safeParse(
    expected.request,
    isObject(value) && isObject(value['request']) ? value['request'] : {},
    thorough,
  )
  const findings = [
    ...(parsed.success
      ? []
      : [describeIssues(parsed.issues, '', mayHoldSecret), ...flatCredentials(parsed.issues)]),
    ...(request.success
      ? []
      : [describeIssues(request.issues, 'request', quietMembers(expected.request))]),
  ]
  const [array] = [
    ...misplacedArrays(envelope, value),
    ...misplacedArrays(v.object({ request: expected.request }), value),
  ]
  const at = array ? placeAt(array.path) : undefined
  if (at !== undefined && !findings.some((one) => one.startsWith(`${at}: `)))
    findings.unshift(
      // Findings about the body itself name no place.
      at === '' ? 'write an object (found an array)' : `${at}: Expected Object but received Array`,
    )
  if (findings.length > 0 || !parsed.success || !request.success)
    throw new RuntimeError('request_invalid', findings.join('; '))
  const { page, settings, include_raw_data } = parsed.output
  const size = page?.size ?? null
  if (size !== null && (size < 1 || size > MAX_PAGE_SIZE)) {
    throw new RuntimeError(
      'page_size_invalid',
      `page.size: found ${size}; write 1 to ${MAX_PAGE_SIZE}`,
    )
  }
  const given =
    'auth' in parsed.output
      ? pickCredentials(parsed.output, expected.manifest)
      : { auth: null, credentials: null }
  const parts = {
    request: request.output,
    settings: parseSettings(settings, expected),
    ...given,
  }
  boundSecrets(parts, expected)
  return {
    ...parts,
    page: { token: page?.token ?? null, size },
    includeRawData: include_raw_data === true,
  }
}

/**
 * Returns a hint for the usual first mistake, `{ "token": "x" }`: a credential is an object of its kind's
 * fields.
 */
function flatCredentials(issues: readonly v.BaseIssue<unknown>[]): string[] {
  const [kind] = issues.flatMap(({ path = [] }) => {
    const name = path.at(-1)?.key
    const flat = path[0]?.key === 'auth' ? path.length === 2 : path.length === 3
    return flat && isKind(name) ? [name] : []
  })
  if (kind === undefined) return []
  const fields = Object.keys(AUTHENTICATION[kind].entries)
  const shown = fields.map((field) => `"${field}": …`).join(', ')
  return [`write "${kind}": { ${shown} }`]
}

const isKind = (name: unknown): name is CredentialKind =>
  typeof name === 'string' && Object.hasOwn(AUTHENTICATION, name)

/** Reports whether a member may hold a secret, even if its form is wrong. */
const mayHoldSecret = ([name]: readonly unknown[]): boolean =>
  ['auth', 'credentials', 'settings', 'request'].includes(String(name))

/**
 * Parses the JSON of a body.
 *
 * @throws body_not_json, body_too_deep
 */
export function parseBody(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new RuntimeError('body_not_json', notJson('the body', error))
  }
  if (deeperThan(value, MAX_DEPTH)) {
    throw new RuntimeError('body_too_deep', `the body is nested deeper than ${MAX_DEPTH} levels`)
  }
  return value
}

type Given = Pick<Call, 'auth' | 'credentials'>
type AuthenticatedEnvelope = v.InferOutput<typeof authenticatedEnvelope>

function pickCredentials(
  { auth, credentials }: AuthenticatedEnvelope,
  manifest: Expected['manifest'],
): Given {
  if (auth && credentials)
    throw refuseCredentials('auth and credentials were both sent; send one of them')
  if (manifest.authentication_schema) {
    const { kind } = manifest.authentication_schema
    if (credentials)
      throw refuseCredentials(
        `credentials: this connector takes a single credential; send auth.${kind}`,
      )
    if (!auth) throw refuseCredentials(`auth: missing; send auth.${kind}`)
    return { auth: ofKind(auth, kind, 'auth'), credentials: null }
  }
  if (auth)
    throw refuseCredentials(
      'auth: this connector takes several credentials; send credentials, each with its id',
    )
  if (!credentials || credentials.length === 0)
    throw refuseCredentials('credentials: missing; send at least one')
  return { auth: null, credentials: pickSeveral(credentials, manifest.credentials ?? []) }
}

function pickSeveral(sent: AuthCredential[], declared: NonNullable<Manifest['credentials']>) {
  const picked: Record<string, AuthCredential> = {}
  for (const [index, credential] of sent.entries()) {
    const at = `credentials[${index}]`
    const { id } = credential
    if (id === undefined) throw refuseCredentials(`${at}.id: missing`)
    const known = declared.find((one) => one.id === id)
    if (!known)
      throw refuseCredentials(
        `${at}.id: ${JSON.stringify(id.slice(0, 64))} is not declared; declared: ${declared.map((one) => one.id).join(', ')}`,
      )
    if (Object.hasOwn(picked, id)) throw refuseCredentials(`${at}.id: ${id} was sent twice`)
    picked[id] = ofKind(credential, known.kind, at)
  }
  const missing = declared.filter(({ id, optional }) => !optional && !Object.hasOwn(picked, id))
  if (missing.length > 0)
    throw refuseCredentials(
      `credentials: missing ${missing.map(({ id, kind }) => `${id} (${kind})`).join(', ')}`,
    )
  return picked
}

/** Passes on the declared kind only. The connector must not see other credentials that were sent. */
function ofKind(credential: AuthCredential, kind: CredentialKind, at: string): AuthCredential {
  if (credential[kind] === undefined)
    throw refuseCredentials(`${at}.${kind}: missing; this connector authenticates with ${kind}`)
  const { id } = credential
  return { ...credentialOf(kind, credential[kind]), ...(id === undefined ? {} : { id }) }
}

const refuseCredentials = (message: string) => new RuntimeError('credentials_invalid', message)

function parseSettings(
  settings: Record<string, unknown> | undefined,
  { settings: schema, manifest }: Expected,
) {
  const parsed = v.safeParse(schema, settings ?? {})
  if (parsed.success) return membersOf(parsed.output)
  const titles = [...new Set(parsed.issues.map((issue) => v.getDotPath(issue) ?? ''))]
    .map((name) => manifest.settings[name]?.title)
    .filter((title) => title !== undefined)
  const named = titles.length > 0 ? ` (${titles.join(', ')})` : ''
  const findings = describeIssues(parsed.issues, 'settings', quietMembers(schema))
  throw new RuntimeError('settings_invalid', `${findings}${named}`)
}

/** Returns the bytes of the success envelope around a validated response and its raw data. */
export function successBody(
  response: Buffer,
  raw: Buffer,
  page: { token: string; size: number | null } | null,
): Buffer {
  return Buffer.concat([
    OPENING,
    response,
    RAW,
    raw.length > 0 ? raw : NULL,
    Buffer.from(`,"page":${JSON.stringify(page)}}`),
  ])
}

const OPENING: Buffer = Buffer.from('{"response":')
const RAW: Buffer = Buffer.from(',"raw_data":')
const NULL: Buffer = Buffer.from('null')

/** Returns the error envelope. `page` repeats the page of the call, so that a caller can resume. */
export function errorBody(error: RuntimeError, appId: string): ErrorResponse {
  const { details } = error
  const row = ERRORS[error.code]
  return {
    is_error: true,
    error: {
      message: error.message,
      error_code: details.wire ?? row.wire,
      app_id: appId.slice(0, 64),
      status_code: details.statusCode ?? null,
      app_error_code: details.appErrorCode ?? null,
      raised_by: details.raisedBy ?? row.raisedBy,
      raised_in: details.raisedIn ?? null,
    },
    raw_data: details.raw ?? null,
    page: details.page ?? null,
  }
}

/** Reports whether a text is one of the 25 codes. */
export const isErrorCode = (text: string): text is ErrorCode => isOneOf(ERROR_CODES, text)
