/**
 * Access requests: core-interface.md sections 1.9, 1.17 and 2. Section 2.1 describes how clients read their
 * states.
 */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, maybe, nullable, object, strictObject } from '../schema/schemas.ts'
import { ACCESS_LENGTHS } from './access-length.ts'
import { User } from './person.ts'
import { listOf, prose, reasonText } from './reference.ts'
import { RequestablePermissionBaseOutput } from './requestable-permission.ts'
import { Task } from './task.ts'

/** SupportRequestStatus, in the order of core-interface.md. */
export const REQUEST_STATUSES = [
  'PENDING',
  'PENDING_MANAGER_APPROVAL',
  'MANAGER_APPROVED',
  'MANAGER_DENIED',
  'PENDING_APPROVAL',
  'APPROVED',
  'DENIED',
  'EXPIRED',
  'CANCELLED',
  'PENDING_PROVISIONING',
  'PENDING_MANUAL_PROVISIONING',
  'DENIED_PROVISIONING',
  'PROVISIONED',
  'PENDING_DEPROVISIONING',
  'PENDING_MANUAL_DEPROVISIONING',
  'TIME_BASED_EXPIRED',
  'COMPLETED',
  'REVERTING',
  'REVERTED',
  'TIME_BASED_EXPIRED_FAILED',
  'TIME_BASED_EXPIRED_CANCELLED',
] as const
export type RequestStatus = (typeof REQUEST_STATUSES)[number]

/** Longest access that may be requested in seconds: ten years. */
const MAX_SECONDS = 10 * 365 * 24 * 3600

export const CreateAccessRequestInput = object('CreateAccessRequestInput', {
  app_id: v.string(),
  requester_user_id: maybe(
    described(v.string(), 'Requester; only admins may name another user. Absent: the caller'),
  ),
  target_user_id: maybe(described(v.string(), 'User who gets the access. Absent: the requester')),
  note: maybe(v.pipe(prose('The old name of business_justification'))),
  business_justification: maybe(prose('Why the access is needed')),
  expiration_in_seconds: maybe(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(MAX_SECONDS),
      v.metadata({ description: 'Duration. If absent, and access_length too: unlimited' }),
    ),
  ),
  access_length: maybe(v.picklist(keysOf(ACCESS_LENGTHS))),
  requestable_permission_ids: maybe(listOf(v.string(), 100)),
})
export type CreateAccessRequestInput = v.InferOutput<typeof CreateAccessRequestInput>

/** Maximum length of a revocation's reason, in characters. */
const MAX_REVOCATION_REASON = 1000

export const RevokeAccessInput = strictObject('RevokeAccessInput', {
  reason: reasonText(MAX_REVOCATION_REASON, 'Reason, visible to everyone who sees the request'),
})
export type RevokeAccessInput = v.InferOutput<typeof RevokeAccessInput>

const zoneless = (description: string) =>
  nullable(described(v.string(), `${description}: UTC, without a zone`))

export const AccessRequest = strictObject(
  'AccessRequest',
  'A request for access, and the access that it granted',
  {
    id: v.string(),
    app_id: v.string(),
    app_name: v.string(),
    requester_user: User,
    target_user: User,
    supporter_user: nullable(User),
    status: v.picklist(REQUEST_STATUSES),
    is_break_glass: described(
      v.boolean(),
      'Whether the access was taken at once and is reviewed afterwards',
    ),
    revoked_by: nullable(User),
    notes: described(
      v.record(v.string(), v.nullable(v.string())),
      'Status -> note written when it was reached',
    ),
    expires_at: zoneless('End of the access'),
    expiration_in_seconds: nullable(v.number()),
    requestable_permissions: v.array(RequestablePermissionBaseOutput),
    requested_at: zoneless('Time of the request'),
    tasks: nullable(v.array(Task)),
    custom_fields: nullable(
      v.array(v.strictObject({ prompt: v.string(), response: nullable(v.string()) })),
    ),
  },
)
export type AccessRequest = v.InferInput<typeof AccessRequest>
