/**
 * The fields of a request that are given, by the system's own names. `null` is given; fields that the table does not have
 * are left out.
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
