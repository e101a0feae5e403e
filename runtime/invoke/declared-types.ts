/**
 * Rejects grants of types that the connector does not declare. The types in a request must be in the
 * manifest.
 * Source: connector-interface.md sections 1.2 (assign_entitlement, create_account) and 1.3.
 */
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { nearest } from '../contract/errors/nearest.ts'

/**
 * The global resource, which every system has without declaring it: empty, or as the public service names it.
 */
const GLOBAL_RESOURCE: readonly string[] = ['', 'GLOBAL_RESOURCE']

/** Maximum number of types listed in a message. */
const MAX_NAMED = 20

type Types = Pick<Manifest, 'id' | 'entitlement_types' | 'resource_types'>
type Kind = 'entitlement_types' | 'resource_types'
/** A type in a request, and its position. */
type Named = { kind: Kind; at: string; type: string }

type Grant = { entitlement_type: string; resource_type: string }

const ofGrant = ({ entitlement_type, resource_type }: Grant): Named[] => [
  { kind: 'entitlement_types', at: 'entitlement_type', type: entitlement_type },
  { kind: 'resource_types', at: 'resource_type', type: resource_type },
]

const ofAccount = ({ entitlements }: { entitlements: Pick<Grant, 'entitlement_type'>[] }) =>
  entitlements.map(
    ({ entitlement_type: type }, index): Named => ({
      kind: 'entitlement_types',
      at: `entitlements[${index}].entitlement_type`,
      type,
    }),
  )

/** Capability -> types in its validated request. */
const NAMED: Partial<Record<CapabilityName, (request: never) => Named[]>> = {
  create_account: ofAccount,
  assign_entitlement: ofGrant,
  unassign_entitlement: ofGrant,
  assign_application_entitlement: ofGrant,
  unassign_application_entitlement: ofGrant,
}

/**
 * Checks that a manifest declares every type in a request.
 *
 * @throws request_invalid naming the first undeclared type and the declared ones
 */
export function checkDeclaredTypes(
  manifest: Types,
  capability: CapabilityName,
  request: unknown,
): void {
  // Cast: the request was parsed by the schema of this capability.
  const named = NAMED[capability]?.(request as never)
  if (named === undefined) return
  const known = knownOf(manifest)
  const wrong = named.find(({ kind, type }) => !known[kind].has(type))
  if (!wrong) return
  // Attributed to the connector, for callers that distinguish who refused a grant.
  const raised = { raisedBy: 'ConnectorError', raisedIn: `${manifest.id}:${capability}` }
  throw new RuntimeError('request_invalid', `request.${words(manifest, wrong)}`, raised)
}

type Known = Record<Kind, ReadonlySet<string>>

const knownTypes = new WeakMap<Types, Known>()

/** Returns the types of a manifest. Collected once per manifest. */
function knownOf(manifest: Types): Known {
  const collected = knownTypes.get(manifest)
  if (collected) return collected
  const ids = (kind: Kind) => manifest[kind].map(({ type_id }) => type_id)
  const known = {
    entitlement_types: new Set(ids('entitlement_types')),
    resource_types: new Set([...GLOBAL_RESOURCE, ...ids('resource_types')]),
  }
  knownTypes.set(manifest, known)
  return known
}

function words({ id, ...manifest }: Types, { kind, at, type }: Named): string {
  const declared = manifest[kind].map(({ type_id }) => type_id)
  const meant = nearest(type, declared)
  const write = [
    ...declared.slice(0, MAX_NAMED),
    ...(declared.length > MAX_NAMED ? [`${declared.length - MAX_NAMED} more`] : []),
    ...(kind === 'resource_types' ? ['"" for the global resource'] : []),
  ]
  const has =
    write.length === 0
      ? `${id} declares no ${kind} in its connector.json`
      : `${id} declares ${write.join(', ')}`
  const perhaps = meant === null ? '' : `; did you mean ${meant}?`
  return `${at}: found ${JSON.stringify(type.slice(0, 64))}; ${has}${perhaps}`
}
