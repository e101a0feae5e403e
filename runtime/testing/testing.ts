/** Exports of `keyway/testing`, for authors. */
export { checkConnector } from './check-once.ts'
export type { CheckResult, Finding } from './check-result.ts'
