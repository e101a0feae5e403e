/** Normalises attribute names, which are not case-sensitive (RFC 7643 section 2.1). */

/** Names that the connector reads, as spelled in the RFCs. */
const NAMES = new Map(
  [
    ...['totalResults', 'Resources', 'schemas', 'status', 'detail', 'scimType'],
    ...['id', 'externalId', 'userName', 'name', 'givenName', 'familyName', 'displayName', 'active'],
    ...['emails', 'groups', 'members', 'value', 'type', 'primary', '$ref'],
    ...['attributes', 'multiValued', 'mutability', 'returned', 'description'],
    ...['endpoint', 'schema', 'schemaExtensions'],
  ].map((name) => [name.toLowerCase(), name]),
)

/** Maximum depth of these names: a member of an attribute of a resource of a list. */
const DEEPEST = 6

/** Renames the members of a reply to the names of RFC 7643, in place. */
export function spell(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return
  for (const [key, inner] of Object.entries(value)) {
    spell(inner, depth + 1)
    const name = Array.isArray(value) ? key : (NAMES.get(key.toLowerCase()) ?? key)
    if (name === key || Object.hasOwn(value, name)) continue
    Reflect.set(value, name, inner)
    Reflect.deleteProperty(value, key)
  }
}
