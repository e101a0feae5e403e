/**
 * Determines whether the directory enforces a lock. OpenLDAP does so only if the password policy says so
 * (slapo-ppolicy(5), pwdLockout).
 */
import { ConnectorError, firstOf, ifThere, isBelow, type LdapEntry } from 'keyway/sdk'
import { type Ctx, findAll, idOf, placeOf } from './directory.ts'

/** Attribute that names an entry's own policy. Without it, the overlay's default policy applies. */
export const POLICY_ATTRIBUTE = 'pwdPolicySubentry'

/** Readable policies by id, and whether each one enforces locks. */
type Policies = ReadonlyMap<string, boolean>

/**
 * Reads the policies at and below the places in the settings. A place that is missing or denies access has
 * none.
 */
export async function readPolicies(ctx: Ctx): Promise<Policies> {
  const places = (['policy_dn', 'people_dn', 'groups_dn'] as const)
    .map((name) => placeOf(ctx, name))
    .filter((place) => place !== '')
  const outermost = places.filter(
    (place, at) => places.indexOf(place) === at && !places.some((other) => isBelow(place, other)),
  )
  const policies = new Map<string, boolean>()
  for (const base of outermost) {
    const found = await ifThere(
      findAll(ctx, {
        base,
        filter: { eq: ['objectClass', 'pwdPolicy'] },
        attributes: ['pwdLockout'],
      }),
      ...(['not_found', 'permission_denied'] as const),
    )
    for (const entry of found ?? [])
      policies.set(idOf(entry.dn), firstOf(entry, 'pwdLockout') === 'TRUE')
  }
  return policies
}

/**
 * Returns whether a lock is enforced for an entry, and the policy that decides it. Returns null if this is
 * unknown: no policy is readable, the entry's own policy is not readable, or several policies could apply and
 * differ.
 */
function enforcementOf(
  ctx: Ctx,
  entry: LdapEntry,
  policies: Policies,
): { isEnforced: boolean; policy: string } | null {
  const own = firstOf(entry, POLICY_ATTRIBUTE)
  const policy = own === undefined ? placeOf(ctx, 'policy_dn') : idOf(own)
  const isEnforced = policies.get(policy)
  if (isEnforced !== undefined) return { isEnforced, policy }
  if (own !== undefined) return null
  const [first, ...others] = policies
  if (first === undefined || others.some(([, other]) => other !== first[1])) return null
  return { isEnforced: first[1], policy: first[0] }
}

/** Reports whether a lock of an entry is known not to be enforced. */
export const isLockIgnored = (ctx: Ctx, entry: LdapEntry, policies: Policies): boolean =>
  enforcementOf(ctx, entry, policies)?.isEnforced === false

/**
 * Refuses to lock an entry whose lock would not be enforced. Logs a warning if this is unknown.
 *
 * @throws `unsupported_operation` if the directory is known to ignore the lock
 */
export async function refuseIgnoredLock(ctx: Ctx, entry: LdapEntry): Promise<void> {
  const found = enforcementOf(ctx, entry, await readPolicies(ctx))
  if (found === null)
    return ctx.log.warn(
      'Whether the directory heeds the lock is not known: set policy_dn to its password policy',
      { account: idOf(entry.dn) },
    )
  if (found.isEnforced) return
  throw new ConnectorError(
    'unsupported_operation',
    `${idOf(entry.dn)} could still log in: the password policy ${found.policy} heeds no lock. Set pwdLockout to TRUE there; if another policy is the directory's default, set policy_dn to it`,
    { app_error_code: 'lock_not_heeded' },
  )
}
