/** How the sample directory is reached: apart from its server, whose libraries every start would load. */

/** The one bearer token that the sample accepts. Its data is invented: the token guards nothing. */
export const SAMPLE_TOKEN = 'sample-token'

/** Tenants beside the main one, each with a directory of its own at `/{tenant}/scim`. */
export const SAMPLE_TENANTS = ['design', 'warehouse'] as const
export type SampleTenant = (typeof SAMPLE_TENANTS)[number]

/** What the SCIM connector takes as `base_url` of a tenant; `baseUrl` is the main one's. */
export const tenantUrl = (baseUrl: string, tenant: SampleTenant): string =>
  new URL(`/${tenant}/scim`, baseUrl).href
