/** What authors import as `keyway/testing`. */
export { checkConnector } from './check-once.ts'
export type { CheckResult, Finding } from './check-result.ts'
