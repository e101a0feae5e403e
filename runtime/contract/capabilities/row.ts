/** What every row of the capability tables says, and the parts that several rows share. */
import * as v from 'valibot'
import { accountId } from '../models/account.ts'
import { applicationInstanceId } from '../models/entitlement.ts'
import { described, maybe } from '../schema/schemas.ts'
import type { AnySchema } from '../schema/shape.ts'

export type CapabilityRow = {
  summary: string
  group: 'Learning' | 'Read' | 'OAuth' | 'Write'
  /** read | write: which methods egress allows by default, and whether a call may be repeated. */
  level: 'read' | 'write'
  /** The envelope has no auth and no credentials (the OAuth capabilities). */
  plain?: true
  /** A connector may add fields of its own to request and response. */
  extensible?: true
  input: AnySchema
  output: AnySchema
}

type Shared = Pick<CapabilityRow, 'group' | 'level' | 'plain'>

/** Makes rows that say the same of these, with their schemas typed. */
export const capabilities =
  <const S extends Shared>(shared: S) =>
  <const T extends Omit<CapabilityRow, keyof Shared>>(row: T): S & T => ({ ...shared, ...row })

/** A request without members. */
export const nothing = v.object({})

/** A request about one account. */
export const oneAccount = v.object({ account_id: accountId() })

/** The names of custom attributes that a list should bring along. */
export const names = maybe(described(v.array(v.string()), 'Custom attributes to include'))

/** A request about one account's assignment to one application. */
export const assignment = v.object({
  application_instance_id: applicationInstanceId,
  account_id: accountId(),
})
