/** The common part of B, BS and workerd: the two capabilities, and valibot on requests. */
import * as v from 'valibot'
import { CAPABILITIES } from '../../../runtime/contract/capabilities/capabilities.ts'
import { AuthCredential } from '../../../runtime/contract/connector/authentication.ts'
import { maybe } from '../../../runtime/contract/schema/schemas.ts'
import { accounts } from '../connectors/bench/accounts.ts'

export type Name = 'list_accounts' | 'assign_entitlement'

/** A capability as written without Keyway: a plain function and the schemas of the contract. */
export type Plain = {
  /** Whether the body is a request of the contract. */
  accepts(body: unknown): boolean
  handle(): Promise<unknown>
  output: v.GenericSchema
}

export const PLAIN: Record<Name, Plain> = {
  list_accounts: plain('list_accounts', async () => accounts),
  assign_entitlement: plain('assign_entitlement', async () => ({ assigned: true })),
}

export const NAMES = Object.keys(PLAIN) as Name[]

export const isName = (text: string): text is Name => Object.hasOwn(PLAIN, text)

function plain(name: Name, handle: () => Promise<unknown>): Plain {
  const { input, output } = CAPABILITIES[name]
  const envelope = v.object({
    request: input,
    include_raw_data: maybe(v.boolean()),
    page: maybe(v.object({ token: maybe(v.string()), size: maybe(v.number()) })),
    settings: maybe(v.object({})),
    auth: maybe(AuthCredential),
  })
  return {
    accepts: (body) => v.safeParse(envelope, body).success,
    handle,
    output: output as v.GenericSchema,
  }
}
