/**
 * Conformance of one connector. Every declared capability, called with a minimal valid request and a network
 * that refuses everything, must end in an answer or a wire code within its deadline, and must not request
 * anything outside of its egress.
 */
import * as v from 'valibot'
import {
  CAPABILITIES,
  type CapabilityName,
  isCapability,
} from '../contract/capabilities/capabilities.ts'
import { AUTHENTICATION, type CredentialKind } from '../contract/connector/authentication.ts'
import type { Case } from '../contract/connector/cases.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { CEILINGS } from '../contract/limits/ceilings.ts'
import { mapValues } from '../contract/schema/keys.ts'
import type { AnySchema } from '../contract/schema/shape.ts'
import type { EgressCall } from '../egress/call/call.ts'
import { createPolicyOf } from '../egress/call/call-policy.ts'
import { isLdapUrl, targetsOf } from '../egress/hop/ldap-hop.ts'
import { isSqlUrl, sqlTargetsOf } from '../egress/hop/sql-hop.ts'
import { readLdapRequest } from '../egress/ldap/ldap-request.ts'
import { judgeLdap } from '../egress/rules/ldap-rules.ts'
import { judgeUrl, parseUrl } from '../egress/rules/policy.ts'
import { judgeSqlRequest, readSqlRequest as readSql } from '../egress/sql/sql-request.ts'
import { createInvoke } from '../invoke/invoke.ts'
import { createPageTokens } from '../invoke/page-token.ts'
import type { InvokeDeps, ServedVersion } from '../invoke/ports.ts'
import { minimalSettings, minimalValue } from './minimal-values.ts'
import { rejectTest } from './not-here.ts'

/** Time after which a call counts as hanging, in milliseconds: its network answers at once. */
const PATIENCE_MS = 5000

type Finding = { severity: 'error'; where: string; message: string }

/** Request of one of the connector's own cases. Used where its schemas accept no generated value. */
type Example = Pick<Case, 'capability' | 'request' | 'settings'>

export async function conformance(
  version: ServedVersion,
  run: InvokeDeps['run'],
  examples: readonly Example[] = [],
  locate: InvokeDeps['locate'] = async () => null,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const capability of Object.keys(version.manifest.capabilities)) {
    if (!isCapability(capability)) continue
    const outside: string[] = []
    const invoke = createInvoke({
      performOAuth: rejectTest,
      find: () => version,
      byDigest: () => version,
      // The call runs once. Its requests are counted.
      run: (lane, call) =>
        run(lane, { ...call, isolateKey: `conformance ${capability}`, hasWritten: () => true }),
      openEgress: (call) => ({
        records: [],
        fetch: async (request) => refuse(request, call, outside),
        hasWritten: () => true,
      }),
      pageTokens: createPageTokens(['conformance'.repeat(4)]),
      locate,
      ceilings: {
        ...mapValues(CEILINGS, (row) => row.default),
        ...{ maxDeadlineMs: PATIENCE_MS, maxPages: 1000 },
      },
      log: () => {},
      onUpstream: () => {},
    })
    const error = await invoke({
      connectorId: version.id,
      capability,
      text: JSON.stringify(minimalEnvelope(version, capability, examples)),
      requestId: 'conformance',
      signal: new AbortController().signal,
    }).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    findings.push(
      ...judgeEnd(error, capability),
      ...outside.map((message) => ({ severity: 'error' as const, where: capability, message })),
    )
  }
  return findings.filter(isNewFinding(findings))
}

/** Settings belong to the connector: one finding about them covers all capabilities. */
const isNewFinding =
  (all: readonly Finding[]) =>
  ({ message }: Finding, index: number): boolean =>
    !message.includes(' ends in settings_invalid') ||
    all.findIndex((one) => one.message === message) === index

/** Ends of a call that are the connector's fault. */
const WRONG_ENDS = [
  'deadline_passed',
  'isolate_memory',
  'isolate_disposed',
  'worker_died',
  'reply_invalid',
  'request_invalid',
  'credentials_invalid',
  'settings_invalid',
  'connector_threw',
]

const ownExample = '; write a case with a valid request and valid settings: this check uses them'
const HINTS: Partial<Record<string, string>> = {
  connector_threw: '; throw a ConnectorError if the system refuses a request',
  request_invalid: ownExample,
  settings_invalid: ownExample,
}

function judgeEnd(error: unknown, capability: string): Finding[] {
  if (error === null) return []
  if (!(error instanceof RuntimeError)) throw error
  if (!WRONG_ENDS.includes(error.code)) return []
  const hint = HINTS[error.code] ?? ''
  return [
    {
      severity: 'error',
      where: capability,
      message: `with a network that refuses everything, the call ends in ${error.code}: ${error.message}${placeOf(error)}${hint}`,
    },
  ]
}

/** Returns ` (connector.ts:31:12)`, the end of `raised_in`, if the place of the error is known. */
const placeOf = ({ details }: RuntimeError): string =>
  / \([^)]*\)$/.exec(details.raisedIn ?? '')?.[0] ?? ''

type Opened = Parameters<InvokeDeps['openEgress']>[0]

function refuse(
  request: { url: string; method: string; body: Uint8Array | null },
  { version, capability, settings }: Opened,
  outside: string[],
): never {
  const call: EgressCall = {
    connectorId: version.id,
    manifest: version.manifest,
    capability,
    level: CAPABILITIES[capability].level,
    settings,
    signal: new AbortController().signal,
    secrets: null,
  }
  const isAllowed = isLdapUrl(request.url)
    ? allowedInDirectory(call)
    : isSqlUrl(request.url)
      ? allowedInDatabase(call)
      : allowedByHttp(call)
  try {
    isAllowed(request)
  } catch (error) {
    if (error instanceof RuntimeError)
      outside.push(
        error.code === 'context_misused'
          ? `calls its context with wrong arguments: ${error.message}`
          : `sends a request that its manifest does not allow: ${error.message}`,
      )
    throw error
  }
  throw new RuntimeError('upstream_rejected', 'this network refuses every connection')
}

type Asked = Parameters<typeof refuse>[0]

/**
 * Judges a request as the egress does.
 * @throws egress_setting at once. The returned function throws later.
 */
function allowedByHttp(call: EgressCall): (request: Asked) => unknown {
  const policy = createPolicyOf()(call)
  return ({ url, method }) => judgeUrl(parseUrl(url), method, policy)
}

/** Judges the operation of a request of `ctx.ldap`. Its DNs are made of generated ids. */
function allowedInDirectory(call: EgressCall): (request: Asked) => unknown {
  const targets = targetsOf(call)
  return ({ method, body }) => judgeLdap(readLdapRequest(method, body).operation, null, targets)
}

/** Judges the statements of a request of `ctx.sql`. */
function allowedInDatabase(call: EgressCall): (request: Asked) => unknown {
  const targets = sqlTargetsOf(call)
  return ({ method, body }) => judgeSqlRequest(readSql(method, body), targets)
}

/** Returns the smallest body that a capability accepts. */
function minimalEnvelope(
  version: ServedVersion,
  capability: CapabilityName,
  examples: readonly Example[],
): object {
  const { manifest } = version
  const plain = 'plain' in CAPABILITIES[capability]
  const schema = version.request(capability)
  if (!schema) throw new Error(`${capability} takes no request`)
  const own = examples.filter((one) => one.capability === capability)
  return {
    request: firstFitting(schema, [
      withDeclaredTypes(minimalValue(schema), manifest),
      ...own.map(({ request }) => request),
    ]),
    settings: firstFitting(version.settings, [
      minimalSettings(manifest.settings),
      ...[...own, ...examples].map(({ settings }) => settings),
    ]),
    ...(plain ? {} : minimalCredentials(manifest)),
  }
}

/** Returns the first value that the schema accepts, or the first of all. */
const firstFitting = (schema: AnySchema, values: readonly unknown[]): unknown =>
  values.find((value) => value !== undefined && v.is(schema, value)) ?? values[0]

/** Replaces the types that a request names by the first ones declared in the manifest: others are refused. */
function withDeclaredTypes(request: unknown, { entitlement_types: [first] }: Manifest): unknown {
  if (!first || typeof request !== 'object' || request === null || !('entitlement_type' in request))
    return request
  return { ...request, entitlement_type: first.type_id, resource_type: first.resource_type_id }
}

function minimalCredentials({ authentication_schema, credentials }: Manifest): object {
  const one = (kind: CredentialKind) => ({
    [kind]: minimalValue(AUTHENTICATION[kind]),
  })
  if (authentication_schema) return { auth: one(authentication_schema.kind) }
  return { credentials: (credentials ?? []).map(({ id, kind }) => ({ id, ...one(kind) })) }
}
