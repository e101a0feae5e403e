/** A review of a group of a SCIM server of others. */
import { startScimmy, why } from '../../requests/real/scimmy.ts'
import { describeReview } from './paths.ts'

describeReview('SCIMMY', why, startScimmy)
