/**
 * Compares two versions of a connector: what callers and stored records lose, and what changes its meaning.
 * Optional additions are not reported.
 */
import semver from 'semver'
import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Field, Fields } from '../../contract/connector/settings.ts'

/** `breaking`: valid calls or records become invalid. `notice`: worth knowing. */
export type Incompatibility = {
  severity: 'breaking' | 'notice'
  where: string
  message: string
  /** What to do about it. */
  advice: string
}

/** Returns everything that `next` removes or changes the meaning of. */
export function compatibility(before: Manifest, next: Manifest): Incompatibility[] {
  const found = [
    ...capabilities(before, next),
    ...credentials(before, next),
    ...fields('settings', before.settings, next.settings, STORED),
    ...types('entitlement_types', before.entitlement_types, next.entitlement_types),
    ...types('resource_types', before.resource_types, next.resource_types),
  ]
  return found.some(({ severity }) => severity === 'breaking')
    ? [...found, ...numbering(before, next)]
    : found
}

const breaking = (where: string, message: string, advice: string): Incompatibility => ({
  severity: 'breaking',
  where,
  message,
  advice,
})

const STORED = 'keep it, or have every connected app set up again'
const CALLED = 'keep it, or have the callers changed first'

function capabilities(before: Manifest, next: Manifest): Incompatibility[] {
  return Object.entries(before.capabilities).flatMap(([name, old]) => {
    const where = `capabilities.${name}`
    const now = next.capabilities[name]
    if (!now) return [breaking(where, 'is not offered any more', CALLED)]
    return [
      ...fields(`${where}.request_fields`, old.request_fields, now.request_fields, CALLED),
      ...Object.keys(old.response_fields ?? {})
        .filter((field) => !Object.hasOwn(now.response_fields ?? {}, field))
        .map((field) =>
          breaking(`${where}.response_fields.${field}`, 'is not answered any more', CALLED),
        ),
    ]
  })
}

/** Returns kinds of credentials by id. The one of `authentication_schema` has no id. */
function kindsOf({ authentication_schema, credentials = [] }: Manifest): Map<string, string> {
  return new Map([
    ...(authentication_schema ? [['', authentication_schema.kind] as const] : []),
    ...credentials.map(({ id, kind }) => [id, kind] as const),
  ])
}

function credentials(before: Manifest, next: Manifest): Incompatibility[] {
  const now = kindsOf(next)
  const had = kindsOf(before)
  const required = (next.credentials ?? []).filter(({ id, optional }) => !optional && !had.has(id))
  return [
    ...[...had].flatMap(([id, kind]) => {
      const where = id === '' ? 'authentication_schema' : `credentials.${id}`
      const kept = now.get(id)
      if (kept === undefined) return [breaking(where, 'is gone', STORED)]
      return kept === kind ? [] : [breaking(where, `was ${kind}, is ${kept}`, STORED)]
    }),
    ...required.map(({ id }) =>
      breaking(`credentials.${id}`, 'is new and required', `make it optional, or ${STORED}`),
    ),
  ]
}

/** Compares input fields. Removed fields are ignored silently, which may change the effect of a call. */
function fields(
  where: string,
  before: Fields = {},
  next: Fields = {},
  advice: string,
): Incompatibility[] {
  return [
    ...Object.entries(before).flatMap(([name, old]) => {
      const now = next[name]
      if (!now)
        return [breaking(`${where}.${name}`, 'is not known any more; its value is dropped', advice)]
      return narrowed(`${where}.${name}`, old, now, advice)
    }),
    ...Object.entries(next)
      .filter(([name, now]) => !Object.hasOwn(before, name) && isDemanded(now))
      .map(([name]) =>
        breaking(`${where}.${name}`, 'is new and required', `give it a default, or ${advice}`),
      ),
  ]
}

const isDemanded = ({ required, default: absent }: Field): boolean =>
  required === true && absent === undefined

function narrowed(where: string, old: Field, now: Field, advice: string): Incompatibility[] {
  if (old.type !== now.type) return [breaking(where, `was ${old.type}, is ${now.type}`, advice)]
  const found: Incompatibility[] = []
  if (isDemanded(now) && !isDemanded(old))
    found.push(breaking(where, 'is required now', `give it a default, or ${advice}`))
  if (old.default !== now.default)
    found.push({
      severity: 'notice',
      where,
      message: `its default was ${JSON.stringify(old.default)}, is ${JSON.stringify(now.default)}`,
      advice: 'tell those who rely on the default',
    })
  return [...found, ...narrowedValues(where, old, now, advice)]
}

function narrowedValues(where: string, old: Field, now: Field, advice: string): Incompatibility[] {
  if (old.type === 'string' && now.type === 'string') {
    const gone = (old.enum ?? []).filter((one) => now.enum && !now.enum.includes(one))
    const messages = [
      gone.length > 0 &&
        `does not take ${gone.map((one) => JSON.stringify(one)).join(', ')} any more`,
      !old.enum &&
        now.enum &&
        `takes only ${now.enum.map((one) => JSON.stringify(one)).join(', ')} now`,
      now.pattern !== undefined && old.pattern !== now.pattern && `must match ${now.pattern} now`,
      now.format !== undefined && old.format !== now.format && `must be a ${now.format} now`,
    ]
    return messages.flatMap((message) => (message ? [breaking(where, message, advice)] : []))
  }
  if (old.type === 'integer' && now.type === 'integer') {
    const least = now.min ?? Number.NEGATIVE_INFINITY
    const most = now.max ?? Number.POSITIVE_INFINITY
    if (
      least > (old.min ?? Number.NEGATIVE_INFINITY) ||
      most < (old.max ?? Number.POSITIVE_INFINITY)
    )
      return [breaking(where, `takes ${least} to ${most} now`, advice)]
  }
  return []
}

type Typed = {
  type_id: string
  type_label: string
  resource_type_id?: string
  min?: number
  max?: number | undefined
}

/** Compares types. Synced records name them, and become meaningless if one is removed. */
function types(
  where: 'entitlement_types' | 'resource_types',
  before: readonly Typed[],
  next: readonly Typed[],
): Incompatibility[] {
  const now = new Map(next.map((one) => [one.type_id, one]))
  return before.flatMap((old) => {
    const at = `${where}.${old.type_id}`
    const kept = now.get(old.type_id)
    if (!kept) return [breaking(at, 'is gone', 'keep it: records and grants name it')]
    const found: Incompatibility[] = []
    if (old.resource_type_id !== kept.resource_type_id)
      found.push(
        breaking(
          at,
          `was of resources ${old.resource_type_id}, is of ${kept.resource_type_id}`,
          'give what is new a type of its own',
        ),
      )
    if ((kept.min ?? 0) > (old.min ?? 0) || (kept.max ?? Infinity) < (old.max ?? Infinity))
      found.push(
        breaking(
          at,
          `an account has ${kept.min ?? 0} to ${kept.max ?? 'any number'} now, had ${old.min ?? 0} to ${old.max ?? 'any number'}`,
          'accounts that do not fit can be changed no more; keep the wider bounds',
        ),
      )
    if (old.type_label !== kept.type_label)
      found.push({
        severity: 'notice',
        where: at,
        message: `was called ${JSON.stringify(old.type_label)}, is ${JSON.stringify(kept.type_label)}`,
        advice: 'make sure that it means the same',
      })
    return found
  })
}

function numbering({ version: before }: Manifest, { version: next }: Manifest): Incompatibility[] {
  const [old, now] = [semver.parse(before), semver.parse(next)]
  if (!old || !now || announcesBreak(old, now)) return []
  return [
    {
      severity: 'notice',
      where: 'version',
      message: `${next} breaks what ${before} promised, and its number does not say so`,
      advice: `call it ${breakingAfter(old)}`,
    },
  ]
}

/**
 * Reports whether the version number announces a breaking change: below 1.0.0 by its second part, below 0.1.0
 * by its third (semver).
 */
const announcesBreak = (old: semver.SemVer, now: semver.SemVer): boolean =>
  semver.gt(now, old) && !semver.satisfies(now, `^${old.version}`, { includePrerelease: true })

function breakingAfter({ major, minor }: semver.SemVer): string {
  return major > 0 ? `${major + 1}.0.0` : `0.${minor + 1}.0`
}
