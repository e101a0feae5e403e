/** Requests for membership in a group of a third-party SCIM server. */
import { describePaths } from './paths.ts'
import { startScimmy, why } from './scimmy.ts'

describePaths('SCIMMY', why, startScimmy)
