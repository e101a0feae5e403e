/** Reads the last logins that the directory records. */
import { type Input, ifThere, inParallel, type LdapEntry, type Output, valuesOf } from 'keyway/sdk'
import { readPerson } from './accounts.ts'
import type { Ctx } from './directory.ts'
import { timeOf } from './times.ts'

type Activity = Output<'get_last_activity'>[number]

/**
 * Attributes with the last login: OpenLDAP with `lastbind on`, OpenLDAP with the overlay `lastbind`, and 389
 * Directory Server with account policies.
 */
const LOGIN_ATTRIBUTES = ['pwdLastSuccess', 'authTimestamp', 'lastLoginTime']

/** Maximum number of concurrent requests. A directory allows few connections per client. */
const AT_ONCE = 4

/** Returns the last login of each account that has one. Unknown accounts are left out. */
export async function getLastActivity(
  request: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Activity[]> {
  const found = await inParallel(
    request.account_ids,
    async (account_id): Promise<Activity[]> => {
      const entry = await ifThere(readPerson(ctx, account_id, LOGIN_ATTRIBUTES))
      const happened_at = entry === null ? null : lastLoginOf(entry)
      return happened_at === null ? [] : [{ account_id, event_type: 'last_login', happened_at }]
    },
    AT_ONCE,
  )
  return found.flat()
}

const lastLoginOf = (entry: LdapEntry): string | null =>
  LOGIN_ATTRIBUTES.flatMap((name) => valuesOf(entry, name))
    .flatMap((text) => timeOf(text) ?? [])
    .sort()
    .at(-1) ?? null
