/** Names of attributes, which are not case sensitive (RFC 7643 section 2.1). */

/** The names that are read here, as the RFCs spell them. */
const NAMES = new Map(
  [
    ...['totalResults', 'Resources', 'schemas', 'status', 'detail', 'scimType'],
    ...['id', 'externalId', 'userName', 'name', 'givenName', 'familyName', 'displayName', 'active'],
    ...['emails', 'groups', 'members', 'value', 'type', 'primary', '$ref'],
    ...['attributes', 'multiValued', 'mutability', 'returned', 'description'],
    ...['endpoint', 'schema', 'schemaExtensions'],
  ].map((name) => [name.toLowerCase(), name]),
)

/** How deep the names lie that are read here: those of a member of an attribute of a resource of a list. */
const DEEPEST = 6

/** Gives the members of an answer the names that RFC 7643 has for them, in place. */
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
