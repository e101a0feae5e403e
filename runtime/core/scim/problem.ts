/** What a SCIM request is refused with: RFC 7644 section 3.12. */
import type { CoreStatus } from '../../contract/errors/problem.ts'
import { SCIM_URNS, type ScimType } from '../../contract/models/scim.ts'

/** What the core answers, and 412 of RFC 7644 section 3.14. */
type ScimStatus = CoreStatus | 412

export class ScimError extends Error {
  override name = 'ScimError'
  readonly status: ScimStatus
  readonly scimType: ScimType | null

  constructor(status: ScimStatus, scimType: ScimType | null, detail: string) {
    super(detail)
    this.status = status
    this.scimType = scimType
  }
}

/** The body of a failure. */
export const scimErrorBody = (status: number, scimType: ScimType | null, detail: string) => ({
  schemas: [SCIM_URNS.error],
  status: String(status),
  ...(scimType === null ? {} : { scimType }),
  detail,
})

export const invalidValue = (detail: string) => new ScimError(400, 'invalidValue', detail)
export const noSuch = (what: 'User' | 'Group', id: string) =>
  new ScimError(404, null, `There is no ${what} ${JSON.stringify(id.slice(0, 64))} in this domain`)
export const duplicate = (detail: string) => new ScimError(409, 'uniqueness', detail)
