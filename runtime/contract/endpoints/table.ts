/** ENDPOINTS: every operation of the core interface, by its operation id. */
import { APP_ENDPOINTS } from './apps.ts'
import { META_ENDPOINTS } from './meta.ts'
import { TASK_ENDPOINTS } from './tasks.ts'
import { USER_ENDPOINTS } from './users.ts'

export const ENDPOINTS = {
  ...USER_ENDPOINTS,
  ...APP_ENDPOINTS,
  ...TASK_ENDPOINTS,
  ...META_ENDPOINTS,
} as const

export type EndpointName = keyof typeof ENDPOINTS
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[]
