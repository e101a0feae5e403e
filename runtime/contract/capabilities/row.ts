/** The type of a row of the capability tables, and the schemas that several rows share. */
import * as v from 'valibot'
import { accountId } from '../models/account.ts'
import { applicationInstanceId } from '../models/entitlement.ts'
import { described, maybe } from '../schema/schemas.ts'
import type { AnySchema } from '../schema/shape.ts'

/** One capability. */
export type CapabilityRow = {
  summary: string
  group: 'Learning' | 'Read' | 'OAuth' | 'Write'
  /** Decides which methods egress allows by default, and whether a call may be repeated. */
  level: 'read' | 'write'
  /** Whether the envelope has neither `auth` nor `credentials` (the OAuth capabilities). */
  plain?: true
  /** A connector may add its own fields to request and response. */
  extensible?: true
  input: AnySchema
  output: AnySchema
}

type Shared = Pick<CapabilityRow, 'group' | 'level' | 'plain'>

/** Returns a function that makes typed rows with these shared members. */
export const capabilities =
  <const S extends Shared>(shared: S) =>
  <const T extends Omit<CapabilityRow, keyof Shared>>(row: T): S & T => ({ ...shared, ...row })

/** A request without members. */
export const nothing = v.object({})

/** A request about one account. */
export const oneAccount = v.object({ account_id: accountId() })

/** Custom attributes that a list should include. */
export const names = maybe(described(v.array(v.string()), 'Custom attributes to include'))

/** A request about one account's assignment to one application. */
export const assignment = v.object({
  application_instance_id: applicationInstanceId,
  account_id: accountId(),
})
