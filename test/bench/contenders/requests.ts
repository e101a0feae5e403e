/** What B, BS and workerd have in common: the two capabilities, and valibot on what is asked. */
import * as v from 'valibot'
import { CAPABILITIES } from '../../../runtime/contract/capabilities/capabilities.ts'
import { AuthCredential } from '../../../runtime/contract/connector/authentication.ts'
import { maybe } from '../../../runtime/contract/schema/schemas.ts'
import { accounts } from '../connectors/bench/accounts.ts'

export type Name = 'list_accounts' | 'assign_entitlement'

/** A capability as a person writes it who has no Keyway: plain functions, the contract's schemas. */
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
