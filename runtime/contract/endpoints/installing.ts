/** Common input and output of all changes of installed connectors, and the report on a package. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { InstalledVersion, Want } from './generation.ts'
import { bool, int, text } from './params.ts'

/** Longest wait for the other hosts, in milliseconds. */
const MAX_WAIT_MS = 60_000

const reason = v.optional(v.pipe(v.string(), v.maxLength(1000)), '')

/** Members that every change accepts in addition to its subject. */
export const CHANGE = {
  reason: described(reason, 'Reason; recorded in the history'),
  expected_generation: described(
    v.optional(v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0))), null),
    'The newest generation that you have seen; refused (409) if there is a newer one',
  ),
  dry_run: described(v.optional(v.boolean(), false), 'Only report the differences'),
  wait_ms: described(
    v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_WAIT_MS)), 10_000),
    'Longest wait for all live hosts to serve the change, in milliseconds',
  ),
} as const

/** The same as query parameters, for requests without a body. */
export const CHANGE_QUERY = {
  reason: text().describe('Reason; recorded in the history'),
  expected_generation: int({ min: -1, default: -1 }).describe(
    'The newest generation that you have seen: refused (409) if there is a newer one; -1: any',
  ),
  dry_run: bool(false).describe('Only report the differences'),
  wait_ms: int({ min: 0, max: MAX_WAIT_MS, default: 10_000 }).describe(
    'Longest wait for all live hosts to serve the change, in milliseconds',
  ),
}

export const Changed = strictObject('Changed', 'Outcome of a change', {
  generation: described(v.number(), 'The newest generation now'),
  changed: described(v.boolean(), 'False if nothing had to change, and for a dry run'),
  difference: described(
    v.array(v.string()),
    'Actual or, for a dry run, expected differences, as text',
  ),
  converged: described(v.boolean(), 'Whether all live hosts have adopted it'),
  problems: described(
    v.array(v.string()),
    'Parts that a live host does not serve, as text; the host tries again',
  ),
})
export type Changed = v.InferOutput<typeof Changed>

export const PackageFinding = strictObject('PackageFinding', {
  severity: described(
    v.picklist(['error', 'breaking', 'warning', 'notice']),
    'error: it is not installed. breaking: it does not serve unless allow_breaking is set',
  ),
  where: v.string(),
  message: v.string(),
  advice: v.string(),
})
export type PackageFinding = v.InferOutput<typeof PackageFinding>

const Differing = v.strictObject({
  wants: v.array(Want),
  words: described(v.array(v.string()), 'Descriptions for people'),
})

const HostSetting = strictObject('HostSetting', 'A host setting that the package may need', {
  name: v.picklist(['KEYWAY_PRIVATE_EGRESS', 'KEYWAY_PLAIN_LDAP', 'KEYWAY_PLAIN_SQL']),
  entry: described(
    v.string(),
    'Text to add to it; HOST and PORT are placeholders for the server that an app specifies',
  ),
  open: described(v.boolean(), 'Whether an app specifies the server'),
})
export type HostSetting = v.InferOutput<typeof HostSetting>

export const PackageReport = strictObject('PackageReport', 'A package, and what it wants', {
  id: v.string(),
  ...v.omit(InstalledVersion.pipe[0], ['installed_at', 'served_until']).entries,
  findings: v.array(PackageFinding),
  more: described(Differing, 'Wants that are not granted'),
  less: described(Differing, 'Grants that it no longer needs'),
  host_settings: described(
    v.array(HostSetting),
    'Settings that the operator needs if a server is in a private network, or offers no encryption',
  ),
  replaces: described(v.nullable(v.string()), 'The version that serves now'),
  active: described(v.boolean(), 'Whether it already receives calls'),
})
export type PackageReport = v.InferOutput<typeof PackageReport>

export const Uploaded = strictObject('Uploaded', {
  ...Changed.pipe[0].entries,
  package: PackageReport,
})
