/** Error response to a SCIM request (RFC 7644 section 3.12). */
import type { RefusalKind } from '../../contract/errors/problem.ts'
import type { ScimType } from '../../contract/models/scim.ts'

export class ScimError extends Error {
  override name = 'ScimError'
  readonly kind: RefusalKind
  readonly scimType: ScimType | null

  constructor(kind: RefusalKind, scimType: ScimType | null, detail: string) {
    super(detail)
    this.kind = kind
    this.scimType = scimType
  }
}

export const invalidValue = (detail: string) => new ScimError('bad_request', 'invalidValue', detail)
/** Returns the error for removing a required attribute. */
export const required = (name: string) =>
  new ScimError(
    'bad_request',
    'mutability',
    `${name} is required and cannot be removed: replace it`,
  )
export const scimNotFound = (what: 'User' | 'Group', id: string) =>
  new ScimError(
    'not_found',
    null,
    `There is no ${what} ${JSON.stringify(id.slice(0, 64))} in this domain`,
  )
export const duplicate = (detail: string) => new ScimError('conflict', 'uniqueness', detail)
