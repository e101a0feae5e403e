/** Reads the last logons that the domain records. */
import { firstOf, guidValue, type Input, type LdapEntry, type Output } from 'keyway/sdk'
import { isoOf, timeOf } from './control.ts'
import { type Ctx, findAll, idOf } from './directory.ts'

type Activity = Output<'get_last_activity'>[number]

/**
 * Attributes with the last logon. `lastLogon` is recorded by the queried domain controller only.
 * `lastLogonTimestamp` is replicated, and up to 14 days late (MS-ADA1, MS-ADA2).
 */
const LOGON_ATTRIBUTES = ['lastLogon', 'lastLogonTimestamp']

/** Maximum number of accounts in one search. */
const AT_ONCE = 100

/** Returns the last logon of each account that has one. Unknown accounts are left out. */
export async function getLastActivity(
  request: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Activity[]> {
  const last = new Map<string, string>()
  const values = request.account_ids.flatMap((id) => guidValue(id) ?? [])
  for (let at = 0; at < values.length; at += AT_ONCE) {
    const some = values.slice(at, at + AT_ONCE)
    const filter = {
      or: some.map((value): { eq: [string, typeof value] } => ({ eq: ['objectGUID', value] })),
    }
    for (const entry of await findAll(ctx, 'account', LOGON_ATTRIBUTES, filter)) {
      const time = lastLogonOf(entry)
      if (time !== null) last.set(idOf(entry), time)
    }
  }
  return request.account_ids.flatMap((account_id) => {
    const happened_at = last.get(account_id.toLowerCase())
    return happened_at === undefined ? [] : [{ account_id, event_type: 'last_login', happened_at }]
  })
}

const lastLogonOf = (entry: LdapEntry): string | null => {
  const times = LOGON_ATTRIBUTES.flatMap((name) => timeOf(firstOf(entry, name)) ?? [])
  return times.length === 0 ? null : isoOf(Math.max(...times))
}
