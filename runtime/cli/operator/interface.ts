/** The connector interface of a host, for a person: calls with credentials from a file or a prompt. */

import { ConfigError, readConfig } from '../../config/config.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import type { Named } from '../terminal/named-arguments.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { unknownName } from '../terminal/unknown-name.ts'
import { askFor, type ConnectorInfo } from './ask.ts'
import { findOperator, UNUSED } from './client.ts'
import { type Envelope, envelopeFrom } from './envelope.ts'

export type Interface = { base: URL; headers: Record<string, string> }

export type EnvelopeAnswer = {
  is_error?: boolean
  error?: {
    error_code: string
    message: string
    raised_by: string | null
    raised_in: string | null
  }
  response: unknown
  raw_data: unknown
  page: { token?: string } | null
}

/** Returns the interface of the host of this environment, or of `--url`. */
export async function interfaceOf({ url }: ReadFlags): Promise<Interface> {
  const target = await findOperator(process.env, url)
  const { connectorsPath, connectorToken } = readConfig({ ...process.env, ...UNUSED })
  return {
    base: new URL(`${connectorsPath}/`, target.url),
    headers: connectorToken === '' ? {} : { authorization: `Bearer ${connectorToken}` },
  }
}

/**
 * Returns the credentials and settings of a call: from a file, or as entered by the user, who is asked for
 * the fields in `info`.
 */
export async function envelopeFor(
  id: string,
  { as }: { as?: string },
  to: Interface,
): Promise<Envelope> {
  if (as !== undefined) return envelopeFrom(as)
  return askFor(await infoOf(to, id))
}

/**
 * Returns the `info` of a connector.
 *
 * @throws ConfigError if the host does not answer, or the connector does not exist
 */
async function infoOf(to: Interface, id: string): Promise<ConnectorInfo> {
  const info = await send(to, id, 'info', {})
  if (info.is_error) throw new ConfigError(errorText(info))
  // The cast: a host validates its response against the schema of the capability.
  return info.response as ConnectorInfo
}

/** @throws ConfigError unless the connector exists and offers the capability */
export async function requireCapability(
  to: Interface,
  id: string,
  capability: string,
): Promise<void> {
  const { capabilities } = await infoOf(to, id)
  if (capability === 'info' || capabilities.includes(capability)) return
  const message = `${id} does not implement ${JSON.stringify(capability.slice(0, 64))}`
  throw new ConfigError(unknownName('capability', message))
}

/** Errors of the host itself about a name in the path -> kind of the name. */
const WRONG_NAMES: Readonly<Record<string, Named>> = {
  not_found: 'connector',
  not_implemented: 'capability',
}

/**
 * Returns the message of an error. For an unknown connector or capability, it includes where to find the
 * valid names.
 */
export function errorText({ error }: EnvelopeAnswer): string {
  const { error_code = 'error', message = '', raised_by = null } = error ?? {}
  const kind = raised_by === null ? WRONG_NAMES[error_code] : undefined
  return kind === undefined ? message : unknownName(kind, message)
}

/** Returns the address of a call. */
export const addressOf = ({ base }: Interface, id: string, capability: string): URL =>
  new URL(`${encodeURIComponent(id)}/${encodeURIComponent(capability)}`, base)

/**
 * Sends a call. Errors of connectors are returned.
 *
 * @throws ConfigError if no host answers, or if the response is not Keyway's
 */
export async function send(
  to: Interface,
  id: string,
  capability: string,
  body: object,
): Promise<EnvelopeAnswer> {
  const url = addressOf(to, id, capability)
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...to.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
  }).catch((error: Error) => {
    throw new ConfigError(`${url.origin} does not answer: ${messageOf(error.cause ?? error)}`)
  })
  if (answer.status === 401)
    throw new ConfigError(
      `${url.origin} does not accept calls without its token: set KEYWAY_CONNECTOR_TOKEN to that of the host`,
    )
  try {
    const told: EnvelopeAnswer = JSON.parse(await answer.text())
    return told
  } catch {
    // Response of another server, such as a proxy.
    throw new ConfigError(`${url.origin} answered ${answer.status}, and not like Keyway`)
  }
}
