/**
 * Warnings of a check: answers that the contract accepts, but that do less than their author expects. They
 * are not errors, because packages that passed before these warnings existed are installed.
 */
import * as v from 'valibot'
import type { CapabilityName } from '../contract/capabilities/capabilities.ts'
import type { Manifest } from '../contract/connector/manifest.ts'
import { membersOf } from '../contract/schema/record.ts'

type Types = Pick<Manifest, 'entitlement_types' | 'resource_types'>

/** Returns a warning about a row, or null. */
type Judge = (row: Record<string, unknown>, types: Types) => string | null

const declared =
  (kind: keyof Types, member: 'entitlement_type' | 'resource_type'): Judge =>
  (row, types) => {
    const found = row[member]
    const known = types[kind].map(({ type_id }) => type_id)
    if (typeof found !== 'string' || known.includes(found)) return null
    return `returns ${member} ${quoted(found)}, which connector.json does not declare: access of this type cannot be granted. Declare it in ${kind}`
  }

const Moment = v.pipe(v.string(), v.isoTimestamp())

const dated =
  (member: 'happened_at' | 'timestamp'): Judge =>
  (row) =>
    v.is(Moment, row[member])
      ? null
      : `returns ${member} ${quoted(row[member])}, which is not ISO 8601 with an offset: write 2030-01-31T18:00:00Z`

/** Judge of the rows of each capability. */
const JUDGES: Partial<Record<CapabilityName, Judge>> = {
  list_entitlements: declared('entitlement_types', 'entitlement_type'),
  list_applications_entitlements: declared('entitlement_types', 'entitlement_type'),
  list_resources: declared('resource_types', 'resource_type'),
  list_applications_resources: declared('resource_types', 'resource_type'),
  get_last_activity: dated('happened_at'),
  list_activity_records: dated('timestamp'),
  list_applications_activity_records: dated('timestamp'),
}

/** Returns the warnings about the answers of a capability, each once. */
export function doubtful(
  types: Types,
  capability: CapabilityName,
  bodies: readonly Record<string, unknown>[],
): string[] {
  const judge = JUDGES[capability]
  if (judge === undefined) return []
  const rows = bodies.flatMap(({ response }) => (Array.isArray(response) ? response : []))
  return [...new Set(rows.flatMap((row) => judge(membersOf(row), types) ?? []))]
}

const quoted = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 80)
