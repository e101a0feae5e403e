/** HTTP methods of endpoints. */
export type EndpointMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Returns a function for each method, under its name: `rows.get(path, { summary })`. */
export const byMethod = <F>(
  of: (method: EndpointMethod) => F,
): Record<Lowercase<EndpointMethod>, F> => ({
  get: of('GET'),
  post: of('POST'),
  put: of('PUT'),
  patch: of('PATCH'),
  delete: of('DELETE'),
})
