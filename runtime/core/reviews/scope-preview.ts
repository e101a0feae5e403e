/** Preview of the lines that a scope would select, without a review. */
import { badRequest } from '../../contract/errors/problem.ts'
import type { AccessReviewDomainAppInput } from '../../contract/models/access-review.ts'
import { PREVIEW_LINES, type ScopePreview } from '../../contract/models/review-scope.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { rowOfId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { scopeFault } from './scope.ts'
import { countScope } from './snapshot.ts'

/** Previews a scope. @throws CoreError `bad_request` for an invalid filter, `not_found` */
export async function previewScope(
  db: Db,
  { domainId }: Principal,
  { id, review_type: reviewType, scope_filters }: AccessReviewDomainAppInput,
): Promise<ScopePreview> {
  const fault = scopeFault(scope_filters)
  if (fault !== null) throw badRequest(fault)
  const app = await rowOfId(db, apps, 'App', { domainId }, id)
  const scoped = { appId: app.id, domainId, reviewType, scope: scope_filters ?? null }
  const { leftOut: left_out, ...counted } = await countScope(db, scoped, PREVIEW_LINES)
  return { ...counted, left_out }
}
