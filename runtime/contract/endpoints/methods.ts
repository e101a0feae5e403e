/** The methods of HTTP that endpoints have. */
export type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A function of each method, under its name: `rows.get(path, { summary })`. */
export const byMethod = <F>(
  of: (method: EndpointMethod) => F,
): Record<Lowercase<EndpointMethod>, F> => ({
  get: of('GET'),
  post: of('POST'),
  put: of('PUT'),
  patch: of('PATCH'),
  delete: of('DELETE'),
})
