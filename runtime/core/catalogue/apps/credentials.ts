/** Checks of a submitted connection: its form, its acceptance by the system, and the tenant. */

import { createHash } from 'node:crypto'
import * as v from 'valibot'
import {
  type Connection,
  envelopeOf,
  identityOf,
  parseAuth,
  parseSettings,
} from '../../../contract/connector/connection.ts'
import type { Manifest } from '../../../contract/connector/manifest.ts'
import type { ErrorCode } from '../../../contract/errors/error-codes.ts'
import { badRequest, CoreError } from '../../../contract/errors/problem.ts'
import type { AppInputPut } from '../../../contract/models/app.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import type { AnySchema } from '../../../contract/schema/shape.ts'
import type { ServedConnector } from '../../kernel/context/connectors.ts'
import { responseOf } from '../../kernel/context/connectors.ts'
import type { CoreContext, RequestContext } from '../../kernel/context/context.ts'
import { newlyReached, settingTargets } from './reached-places.ts'

type Given = Pick<AppInputPut, 'auth' | 'settings'>
type Settings = Connection['settings']

/** Finds the connector of a class id, in the expected version. @throws CoreError `bad_request` */
export function connectorFor(
  { connectors }: CoreContext,
  { app_class_id: id, version }: { app_class_id: string; version?: string | undefined },
): ServedConnector {
  const connector = connectors.find(id)
  if (!connector)
    throw badRequest(
      `app_class_id: there is no integration ${JSON.stringify(id.slice(0, 64))}; GET /integrations lists all integrations`,
    )
  if (version !== undefined && version !== connector.version)
    throw badRequest(
      `version: ${JSON.stringify(version.slice(0, 64))} of ${connector.id} is not served; ${connector.version} is`,
    )
  return connector
}

/**
 * Validates a submitted connection. Absent parts are taken from `kept`, if given.
 *
 * @throws CoreError `bad_request` that names each invalid member, never its value; also if the new settings
 * would send stored credentials to another place: a caller who may change an app may not read them
 */
export function checkedConnection(
  { id, manifest, settings: schema }: ServedConnector,
  given: Given,
  kept: Connection | null = null,
): Connection {
  const useKept = kept !== null && given.auth === undefined
  const auth = useKept
    ? { ok: true as const, value: credentialsOf(kept) }
    : parseAuth(manifest, given.auth ?? {})
  const settings = parseSettings(manifest, schema, given.settings ?? kept?.settings ?? {})
  if (!auth.ok || !settings.ok) {
    const findings = [auth, settings].flatMap((one) => (one.ok ? [] : one.findings))
    throw badRequest(`${findings.join('; ')}; see GET /integrations/${id}/connection-schema`)
  }
  if (useKept) keepAtHome(manifest, valid(schema, kept.settings), settings.value)
  return { ...auth.value, settings: settings.value }
}

/**
 * Refuses new settings that would send stored credentials to a place that they were not given for. A caller
 * who may change an app may not read its credentials.
 *
 * @throws CoreError `bad_request`
 */
function keepAtHome(manifest: Manifest, before: Settings, after: Settings): void {
  const places = newlyReached(settingTargets(manifest), before, after)
  if (places.length === 0) return
  const steering = places.flatMap(({ settings }) => (settings === 'all' ? [] : settings))
  const names = [...new Set(steering)].filter((name) => before[name] !== after[name])
  const led = names
    .map((name) => `settings.${name}`)
    .slice(0, 10)
    .join(', ')
  throw badRequest(
    `auth: send it again: ${led || 'these settings'} would send the stored credentials to another place than the one they were given for`,
  )
}

/** Adds the defaults that calls use, including those of settings from a later version. */
function valid(schema: AnySchema, settings: Settings): Settings {
  const parsed = v.safeParse(schema, settings)
  return parsed.success ? membersOf(parsed.output) : settings
}

const credentialsOf = ({ settings, ...credentials }: Connection) => credentials

/** Timeout for a system to validate credentials, in milliseconds. */
const VALIDATE_MS = 30_000

/** Form of a tenant's id that can be stored: text without control characters. */
const TENANT_ID = /^[^\p{Cc}]{1,255}$/u

/**
 * Asks the connected system whether it accepts the credentials. Returns the tenant's id, or null if the
 * connector cannot ask.
 *
 * `appId` is the id of the app if it already exists.
 *
 * @throws CoreError `bad_request` for errors that the caller can correct, `not_implemented`,
 * `upstream_failed`
 */
export async function checkCredentials(
  connector: ServedConnector,
  connection: Connection,
  { connectors, requestId, cause, signal }: RequestContext,
  { appId = null, withinMs = VALIDATE_MS }: { appId?: string | null; withinMs?: number } = {},
): Promise<string | null> {
  const { id, manifest } = connector
  if (!Object.hasOwn(manifest.capabilities, 'validate_credentials')) return null
  const name = manifest.name ?? id
  const late = AbortSignal.timeout(withinMs)
  const answer = await connectors.call({
    connectorId: id,
    capability: 'validate_credentials',
    body: { ...envelopeOf(connection), request: {} },
    requestId,
    cause,
    appId,
    signal: AbortSignal.any([signal, late]),
  })
  if (!answer.ok) {
    const { error_code: code, message } = answer.error
    if (late.aborted)
      throw new CoreError(
        'upstream_failed',
        `${name} did not answer within ${withinMs / 1000} seconds`,
      )
    const kind = VERDICTS[code] ?? 'upstream_failed'
    // The system has not judged a request that this host refused to send.
    const { reason } = answer
    const isUnsent = reason?.startsWith('egress_') || reason === 'context_misused'
    const words = isUnsent ? 'was not asked' : VERDICT_WORDS[kind]
    throw new CoreError(kind, `${name} ${words} (${code}): ${message.slice(0, 1000)}`)
  }
  const { valid, unique_tenant_id: tenant } = responseOf('validate_credentials', answer)
  if (!valid) throw badRequest(`${name} rejected these credentials as invalid`)
  if (!TENANT_ID.test(tenant))
    throw new CoreError('upstream_failed', `The integration ${id} returned no usable tenant id`)
  return tenant
}

const VERDICT_WORDS = {
  bad_request: 'did not accept the connection',
  not_implemented: 'cannot be connected with this input',
  upstream_failed: 'could not check the connection',
} as const

/** Error code -> kind of the refusal. All other codes are failures of the system or the network. */
const VERDICTS: Partial<Record<ErrorCode, 'bad_request' | 'not_implemented'>> = {
  unauthenticated: 'bad_request',
  unauthorized: 'bad_request',
  authentication_expired: 'bad_request',
  creds_revoked: 'bad_request',
  permission_denied: 'bad_request',
  bad_request: 'bad_request',
  invalid_value: 'bad_request',
  integration_missing_parameter: 'bad_request',
  not_found: 'bad_request',
  not_implemented: 'not_implemented',
  unsupported_operation: 'not_implemented',
}

/**
 * Derives a tenant's id if the connector cannot tell it: a digest of the settings and the non-secret parts of
 * the credentials, so that a rotated credential still belongs to the same tenant. Without any such values,
 * one connector has one tenant.
 */
export function derivedTenant({ manifest }: ServedConnector, connection: Connection): string {
  const identity = JSON.stringify(identityOf(manifest, connection))
  return `derived-${createHash('sha256').update(identity).digest('hex').slice(0, 32)}`
}
