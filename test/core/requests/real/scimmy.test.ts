/** Requests for membership in a group of a SCIM server of others. */
import { describePaths } from './paths.ts'
import { startScimmy, why } from './scimmy.ts'

describePaths('SCIMMY', why, startScimmy)
