/** What authors import as `keyway/testing`. */
export { type CheckResult, checkConnector, type Finding } from './check-connector.ts'
