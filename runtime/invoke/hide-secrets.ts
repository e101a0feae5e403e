/** Replaces the secrets of a call: its form for the sandbox, and the function that redacts texts. */
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

/** Replaces a call's secrets by placeholders. */
export function hideSecrets(
  call: Call,
  { version, capability, tenant, marks }: Of,
): { secrets: CallSecrets; redact: Redact } {
  const { settings, manifest } = version
  // A version that took over the sequence may lack the capability. The contract still defines what is secret.
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

/** Returns the fields that a manifest receives in clear. Collected once per manifest. */
function grantedBy(manifest: Pick<Manifest, 'clear_secrets'>): ReadonlySet<string> {
  const known = granted.get(manifest)
  if (known) return known
  const fields = new Set(manifest.clear_secrets.map(({ field }) => field))
  granted.set(manifest, fields)
  return fields
}

/**
 * Returns the call for the sandbox, with placeholders instead of secrets, and further placeholders for values
 * derived from them. `raw`: whether the caller wants the data of `ctx.raw`; otherwise it is not written.
 * `table`: whether the reply may be a table, or which of its columns are read. `maxMarks`: its maximum number of
 * structural characters, if there is one.
 */
export function callJson(
  { sealed, secrets, marks: { head, tail }, call }: CallSecrets,
  { cursorJson, size }: TokenPage,
  { exchange }: Pick<Manifest, 'exchange'>,
  {
    raw,
    table,
    maxMarks,
  }: { raw: boolean; table: boolean | readonly string[]; maxMarks?: number | undefined },
): string {
  const { request, settings, auth, credentials } = sealed
  const token = exchange && exchangePlaceholder({ head, tail }, call)
  const marks = secrets.length > 0 || token ? [head + call, tail] : undefined
  const rest = JSON.stringify({ request, settings, auth, credentials, marks, exchange: token })
  const most = maxMarks === undefined ? '' : `,"maxMarks":${maxMarks}`
  return `${rest.slice(0, -1)},"raw":${raw},"table":${JSON.stringify(table)}${most},"page":{"cursor":${cursorJson},"size":${size ?? 'null'}}}`
}
