/** When people last logged in, where the directory notes it. */
import { type Input, ifThere, inParallel, type LdapEntry, type Output, valuesOf } from 'keyway/sdk'
import { readPerson } from './accounts.ts'
import type { Ctx } from './directory.ts'
import { timeOf } from './times.ts'

type Activity = Output<'get_last_activity'>[number]

/** OpenLDAP with `lastbind`, its overlay of that name, and 389 Directory Server with account policies. */
const NOTED_IN = ['pwdLastSuccess', 'authTimestamp', 'lastLoginTime']

/** Requests at once: a directory has few connections for one caller. */
const AT_ONCE = 4

/** The last login of each account that has one; accounts that are not there are left out. */
export async function getLastActivity(
  request: Input<'get_last_activity'>,
  ctx: Ctx,
): Promise<Activity[]> {
  const found = await inParallel(
    request.account_ids,
    async (account_id): Promise<Activity[]> => {
      const entry = await ifThere(readPerson(ctx, account_id, NOTED_IN))
      const happened_at = entry === null ? null : lastOf(entry)
      return happened_at === null ? [] : [{ account_id, event_type: 'last_login', happened_at }]
    },
    AT_ONCE,
  )
  return found.flat()
}

const lastOf = (entry: LdapEntry): string | null =>
  NOTED_IN.flatMap((name) => valuesOf(entry, name))
    .flatMap((text) => timeOf(text) ?? [])
    .sort()
    .at(-1) ?? null
