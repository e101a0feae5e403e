/**
 * How to reach the sample directory. Separate from its server, whose libraries would otherwise be loaded at
 * every start.
 */

/** The only bearer token that the sample accepts. The data is invented, so the token protects nothing. */
export const SAMPLE_TOKEN = 'sample-token'

/** Tenants in addition to the main one, each with its own directory at `/{tenant}/scim`. */
export const SAMPLE_TENANTS = ['design', 'warehouse'] as const
export type SampleTenant = (typeof SAMPLE_TENANTS)[number]

/** Returns the `base_url` of a tenant for the SCIM connector. `baseUrl` is that of the main tenant. */
export const tenantUrl = (baseUrl: string, tenant: SampleTenant): string =>
  new URL(`/${tenant}/scim`, baseUrl).href
