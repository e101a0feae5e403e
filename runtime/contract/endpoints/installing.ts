/** What every change of what is installed may say and is answered with, and what is found of a package. */
import * as v from 'valibot'
import { InstalledVersion, Want } from './generation.ts'
import { bool, int, text } from './params.ts'

const describe = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))

/** Longest wait for the other hosts, in milliseconds. */
const MAX_WAIT_MS = 60_000

const reason = v.optional(v.pipe(v.string(), v.maxLength(1000)), '')

/** What every change may say in addition to its subject. */
export const CHANGE = {
  reason: describe(reason, 'Why; it stands in the history'),
  expected_generation: describe(
    v.optional(v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0))), null),
    'The newest generation that you have seen: refused (409) when there is a newer one',
  ),
  dry_run: describe(v.optional(v.boolean(), false), 'Only say what would be different'),
  wait_ms: describe(
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

export const Changed = v.pipe(
  v.strictObject({
    generation: describe(v.number(), 'The newest generation now'),
    changed: describe(v.boolean(), 'False where it was so already, and for a dry run'),
    difference: describe(v.array(v.string()), 'What is different now, or would be, as text'),
    converged: describe(v.boolean(), 'Whether all live hosts have taken it over'),
    problems: describe(
      v.array(v.string()),
      'What of it some live host does not serve, as text; it tries again',
    ),
  }),
  v.metadata({ title: 'Changed', description: 'What became of a change' }),
)
export type Changed = v.InferOutput<typeof Changed>

export const PackageFinding = v.pipe(
  v.strictObject({
    severity: describe(
      v.picklist(['error', 'breaking', 'warning', 'notice']),
      'error: it is not installed. breaking: it does not serve unless allow_breaking is said',
    ),
    where: v.string(),
    message: v.string(),
    advice: v.string(),
  }),
  v.metadata({ title: 'PackageFinding' }),
)
export type PackageFinding = v.InferOutput<typeof PackageFinding>

const Differing = v.strictObject({
  wants: v.array(Want),
  words: describe(v.array(v.string()), 'The same for people'),
})

export const PackageReport = v.pipe(
  v.strictObject({
    id: v.string(),
    ...v.omit(InstalledVersion.pipe[0], ['installed_at', 'served_until']).entries,
    findings: v.array(PackageFinding),
    more: describe(Differing, 'What it wants that is not granted'),
    less: describe(Differing, 'What is granted that it does not want any more'),
    replaces: describe(v.nullable(v.string()), 'The version that serves now'),
    active: describe(v.boolean(), 'Whether calls go to it already'),
  }),
  v.metadata({ title: 'PackageReport', description: 'What a package is, and what it wants' }),
)
export type PackageReport = v.InferOutput<typeof PackageReport>

export const Uploaded = v.pipe(
  v.strictObject({ ...Changed.pipe[0].entries, package: PackageReport }),
  v.metadata({ title: 'Uploaded' }),
)
