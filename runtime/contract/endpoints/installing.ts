/** What every change of what is installed may say and is answered with, and what is found of a package. */
import * as v from 'valibot'
import { described, strictObject } from '../schema/schemas.ts'
import { InstalledVersion, Want } from './generation.ts'
import { bool, int, text } from './params.ts'

/** Longest wait for the other hosts, in milliseconds. */
const MAX_WAIT_MS = 60_000

const reason = v.optional(v.pipe(v.string(), v.maxLength(1000)), '')

/** What every change may say in addition to its subject. */
export const CHANGE = {
  reason: described(reason, 'Why; it stands in the history'),
  expected_generation: described(
    v.optional(v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0))), null),
    'The newest generation that you have seen: refused (409) when there is a newer one',
  ),
  dry_run: described(v.optional(v.boolean(), false), 'Only say what would be different'),
  wait_ms: described(
    v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(MAX_WAIT_MS)), 10_000),
    'How long to wait until all live hosts serve it, in milliseconds',
  ),
} as const

/** The same as query parameters, where there is no body. */
export const CHANGE_QUERY = {
  reason: text().describe('Why; it stands in the history'),
  expected_generation: int({ min: -1, default: -1 }).describe(
    'The newest generation that you have seen: refused (409) when there is a newer one; -1: any',
  ),
  dry_run: bool(false).describe('Only say what would be different'),
  wait_ms: int({ min: 0, max: MAX_WAIT_MS, default: 10_000 }).describe(
    'How long to wait until all live hosts serve it, in milliseconds',
  ),
}

export const Changed = strictObject('Changed', 'What became of a change', {
  generation: described(v.number(), 'The newest generation now'),
  changed: described(v.boolean(), 'False where it was so already, and for a dry run'),
  difference: described(v.array(v.string()), 'What is different now, or would be, as text'),
  converged: described(v.boolean(), 'Whether all live hosts have taken it over'),
  problems: described(
    v.array(v.string()),
    'What of it some live host does not serve, as text; it tries again',
  ),
})
export type Changed = v.InferOutput<typeof Changed>

export const PackageFinding = strictObject('PackageFinding', {
  severity: described(
    v.picklist(['error', 'breaking', 'warning', 'notice']),
    'error: it is not installed. breaking: it does not serve unless allow_breaking is said',
  ),
  where: v.string(),
  message: v.string(),
  advice: v.string(),
})
export type PackageFinding = v.InferOutput<typeof PackageFinding>

const Differing = v.strictObject({
  wants: v.array(Want),
  words: described(v.array(v.string()), 'The same for people'),
})

const HostSetting = strictObject('HostSetting', 'A setting of the host that it may need', {
  name: v.picklist(['KEYWAY_PRIVATE_EGRESS', 'KEYWAY_PLAIN_LDAP', 'KEYWAY_PLAIN_SQL']),
  entry: described(
    v.string(),
    'What to add to it; HOST and PORT stand for those of the server that an app names',
  ),
  open: described(v.boolean(), 'Whether an app names the server'),
})
export type HostSetting = v.InferOutput<typeof HostSetting>

export const PackageReport = strictObject('PackageReport', 'What a package is, and what it wants', {
  id: v.string(),
  ...v.omit(InstalledVersion.pipe[0], ['installed_at', 'served_until']).entries,
  findings: v.array(PackageFinding),
  more: described(Differing, 'What it wants that is not granted'),
  less: described(Differing, 'What is granted that it does not want any more'),
  host_settings: described(
    v.array(HostSetting),
    'What the operator sets where a server of it is in a private network, or offers no encryption',
  ),
  replaces: described(v.nullable(v.string()), 'The version that serves now'),
  active: described(v.boolean(), 'Whether calls go to it already'),
})
export type PackageReport = v.InferOutput<typeof PackageReport>

export const Uploaded = strictObject('Uploaded', {
  ...Changed.pipe[0].entries,
  package: PackageReport,
})
