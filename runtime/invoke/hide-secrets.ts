/** A call without its secrets: what the sandbox gets of it, and what takes them out of texts. */
import {
  CAPABILITIES,
  type CapabilityName,
  hasNoCredentials,
} from '../contract/capabilities/capabilities.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import { secretParameters } from '../contract/connector/oauth.ts'
import { exchangePlaceholder, type Marks } from '../contract/connector/placeholder.ts'
import { type CallSecrets, sealCall, secretsOf } from '../contract/connector/secrets.ts'
import type { Call } from '../contract/envelope/envelope.ts'
import { createRedact, type Redact } from '../redact/redact.ts'
import type { TokenPage } from './page-token.ts'
import type { ServedVersion } from './ports.ts'

type Of = { version: ServedVersion; capability: CapabilityName; tenant: string; marks: Marks }

/** Puts placeholders in the place of a call's secrets. */
export function hideSecrets(
  call: Call,
  { version, capability, tenant, marks }: Of,
): { secrets: CallSecrets; redact: Redact } {
  const { settings, manifest } = version
  // A version that took the sequence over may lack the capability; the contract still says what is secret.
  const schemas = {
    settings,
    request: version.request(capability) ?? CAPABILITIES[capability].input,
  }
  const secrets: CallSecrets = {
    ...sealCall(call, schemas, marks, grantedBy(manifest)),
    tenant,
    conceals: !hasNoCredentials(capability),
  }
  const redact = createRedact(
    () => secretsOf(call, schemas),
    () =>
      [
        hasNoCredentials(capability) ? call.request : null,
        ...[call.auth, ...Object.values(call.credentials ?? {})].map(
          (one) => one?.oauth_client_credentials,
        ),
      ].flatMap(secretParameters),
    { texts: () => secrets.secrets.map(({ placeholder }) => placeholder), scan: marks.scan },
  )
  return { secrets, redact }
}

const granted = new WeakMap<object, ReadonlySet<string>>()

/** The fields that a manifest has in clear; collected once. */
function grantedBy(manifest: Pick<Manifest, 'clear_secrets'>): ReadonlySet<string> {
  const known = granted.get(manifest)
  if (known) return known
  const fields = new Set(manifest.clear_secrets.map(({ field }) => field))
  granted.set(manifest, fields)
  return fields
}

/**
 * What the sandbox gets: placeholders in the place of secrets, and what more of them are made of. `raw`: whether the caller
 * wants what `ctx.raw` keeps, which is else not even written. `table`: whether the reply may be a table, or which of its
 * columns are read.
 */
export function callJson(
  { sealed, secrets, marks: { head, tail }, call }: CallSecrets,
  { cursorJson, size }: TokenPage,
  { exchange }: Pick<Manifest, 'exchange'>,
  { raw, table }: { raw: boolean; table: boolean | readonly string[] },
): string {
  const { request, settings, auth, credentials } = sealed
  const token = exchange && exchangePlaceholder({ head, tail }, call)
  const marks = secrets.length > 0 || token ? [head + call, tail] : undefined
  const rest = JSON.stringify({ request, settings, auth, credentials, marks, exchange: token })
  return `${rest.slice(0, -1)},"raw":${raw},"table":${JSON.stringify(table)},"page":{"cursor":${cursorJson},"size":${size ?? 'null'}}}`
}
