/** Every operation of the core interface, by its operation id. */
import { ACCOUNT_ENDPOINTS } from './accounts.ts'
import { APP_ENDPOINTS } from './apps.ts'
import { APPSTORE_ENDPOINTS } from './appstore.ts'
import { BREAK_GLASS_ENDPOINTS } from './break-glass.ts'
import { COST_ENDPOINTS } from './cost.ts'
import { DELEGATION_ENDPOINTS } from './delegations.ts'
import { FINDING_ENDPOINTS } from './findings.ts'
import { META_ENDPOINTS } from './meta.ts'
import { OFFBOARDING_ENDPOINTS } from './offboardings.ts'
import { type ParamValues, parseParams } from './params.ts'
import { PERMISSION_ENDPOINTS } from './permissions.ts'
import { POLICY_ENDPOINTS } from './policies.ts'
import { PRE_APPROVAL_ENDPOINTS } from './pre-approval.ts'
import { REQUEST_ENDPOINTS } from './requests.ts'
import { REVIEW_ENDPOINTS } from './reviews.ts'
import { SCIM_TOKEN_ENDPOINTS } from './scim-tokens.ts'
import { TASK_ENDPOINTS } from './tasks.ts'
import { USER_ENDPOINTS } from './users.ts'

export const ENDPOINTS = {
  ...USER_ENDPOINTS,
  ...APP_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...APPSTORE_ENDPOINTS,
  ...PERMISSION_ENDPOINTS,
  ...PRE_APPROVAL_ENDPOINTS,
  ...TASK_ENDPOINTS,
  ...REQUEST_ENDPOINTS,
  ...BREAK_GLASS_ENDPOINTS,
  ...DELEGATION_ENDPOINTS,
  ...POLICY_ENDPOINTS,
  ...OFFBOARDING_ENDPOINTS,
  ...REVIEW_ENDPOINTS,
  ...FINDING_ENDPOINTS,
  ...COST_ENDPOINTS,
  ...SCIM_TOKEN_ENDPOINTS,
  ...META_ENDPOINTS,
} as const

export type EndpointName = keyof typeof ENDPOINTS

/** Parsed query of a list: filters, order and page. */
export type QueryOf<N extends EndpointName> = ParamValues<(typeof ENDPOINTS)[N]['query']>

/**
 * Returns the query of a list for one of our own pages. Parameters that are not given have their value for an
 * absent key, so a new filter in the row changes no page.
 */
export const queryOf = <N extends EndpointName>(
  name: N,
  given: Partial<QueryOf<N>>,
): QueryOf<N> => {
  const { query }: { query: (typeof ENDPOINTS)[N]['query'] } = ENDPOINTS[name]
  return { ...parseParams(query, new URLSearchParams()).values, ...given }
}
