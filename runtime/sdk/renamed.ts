/**
 * Returns the given fields of a request under the system's own names. `null` counts as given; fields that are
 * not in the table are omitted.
 *
 * @example
 * const user = renamed(request, { given_name: 'firstname', family_name: 'lastname' })
 * await api.patch('/users/me', { user })
 */
export const renamed = (
  fields: { readonly [field: string]: unknown },
  names: { readonly [field: string]: string },
): { [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(names).flatMap(([field, name]) =>
      fields[field] === undefined ? [] : [[name, fields[field]]],
    ),
  )
