/** Attribute names in a patch or a filter, and the fields to which they belong. Pure. */
import { SCIM_LIMITS, SCIM_URNS, USER_FIELDS, type UserField } from '../../contract/models/scim.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { isObject } from '../../contract/schema/record.ts'
import { type Filter, parseFilter } from './filter.ts'
import { ScimError } from './problem.ts'

/** Path in a patch, `emails[type eq "work"].value`, without a schema prefix. */
export type PatchPath = {
  /**
   * Name in lower case. `enterprise` tells which schema it belongs to, `user` or `enterprise`; null if not
   * stated.
   */
  name: string
  enterprise: boolean | null
  filter: Filter | null
  /** Sub-attribute in lower case, or empty for the whole attribute. */
  sub: string
}

const FORM = /^([A-Za-z$][\w$:.-]*?)(?:\[(.*)\])?(?:\.([A-Za-z$][\w$-]*))?$/s

/** Maximum length of an operation's path, in characters. */
const MAX_PATH = 1000

/**
 * Parses a path.
 *
 * @throws ScimError `invalidPath`, `invalidFilter`
 */
export function parseScimPath(text: string): PatchPath {
  const { enterprise, rest } = schemaOf(text)
  const found = text.length <= MAX_PATH ? FORM.exec(rest) : null
  const [, name = '', filter, sub = ''] = found ?? []
  if (name === '')
    throw new ScimError(
      'bad_request',
      'invalidPath',
      `The path ${JSON.stringify(text.slice(0, 100))} cannot be read; write it as name.givenName or emails[type eq "work"].value`,
    )
  return {
    ...{ name: name.toLowerCase(), enterprise, sub: sub.toLowerCase() },
    filter: filter === undefined ? null : parseFilter(filter),
  }
}

const SCHEMAS: readonly { urn: string; enterprise: boolean }[] = [
  { urn: SCIM_URNS.enterprise.toLowerCase(), enterprise: true },
  { urn: SCIM_URNS.user.toLowerCase(), enterprise: false },
  { urn: SCIM_URNS.group.toLowerCase(), enterprise: false },
]

/** Splits a known schema off the beginning of a name. `rest` is empty if the name is a schema only. */
export function schemaOf(text: string): { enterprise: boolean | null; rest: string } {
  if (!/^urn:/i.test(text)) return { enterprise: null, rest: text }
  const lower = text.toLowerCase()
  for (const { urn, enterprise } of SCHEMAS) {
    if (lower === urn) return { enterprise, rest: '' }
    if (lower.startsWith(`${urn}:`)) return { enterprise, rest: text.slice(urn.length + 1) }
  }
  return { enterprise: null, rest: text }
}

/**
 * Checks that a message does not have too many attributes, including those below schemas: each name is parsed
 * like a path.
 *
 * @param objects The resource, or the values of operations.
 * @throws ScimError `invalidSyntax`
 */
export function requireFewAttributes(objects: readonly unknown[]): void {
  let count = 0
  const look = (value: unknown): void => {
    if (!isObject(value)) return
    const names = Object.keys(value)
    count += names.length
    if (count > SCIM_LIMITS.attributes)
      throw new ScimError(
        'bad_request',
        'invalidSyntax',
        `There are more than ${SCIM_LIMITS.attributes} attributes; at most ${SCIM_LIMITS.attributes} are allowed`,
      )
    for (const name of names) if (schemaOf(name).rest === '') look(value[name])
  }
  for (const one of objects) look(one)
}

/** Attribute paths in lower case -> field. Providers omit the schema of the extension. */
const BY_PATH: ReadonlyMap<string, UserField> = new Map(
  entriesOf(USER_FIELDS).map(([name, { path }]) => [path.toLowerCase(), name]),
)

/** Complex attributes in lower case -> fields of their sub-attributes. */
const BELOW: ReadonlyMap<string, readonly UserField[]> = Map.groupBy(BY_PATH.values(), (name) =>
  USER_FIELDS[name].path.toLowerCase().replace(/(^|\.)[^.]*$/, ''),
)

/** Returns the field of an attribute such as `name.givenname`, or null if it is not stored. */
export const fieldAt = (path: string): UserField | null => BY_PATH.get(path.toLowerCase()) ?? null

/** Returns the fields below a complex attribute: givenName and familyName for `name`. */
export const fieldsBelow = (path: string): readonly UserField[] =>
  path === '' ? [] : (BELOW.get(path.toLowerCase()) ?? [])
