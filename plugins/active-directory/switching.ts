/** Enables and disables accounts: sets the disabled bit, clears locks and expiry, and moves the account. */
import {
  firstOf,
  isBelow,
  type LdapEntry,
  type LdapValue,
  movedDn,
  unlessAlready,
} from 'keyway/sdk'
import { isExpired, STATE_ATTRIBUTES, withDisabled } from './control.ts'
import { type Ctx, checkPlaces, newAccountsPlace, readEntry } from './directory.ts'
import { refuseOwnLogin } from './own-login.ts'

/**
 * Disables an account, then moves it to `disabled_dn` if that is set. Repeating it is not an error.
 *
 * @throws `unsupported_operation` for the account that the connector signs in as; `invalid_value` if the
 * settings name places where accounts would not be found
 */
export async function switchOff(ctx: Ctx, id: string): Promise<void> {
  checkPlaces(ctx)
  const entry = await readEntry(ctx, 'account', id, STATE_ATTRIBUTES)
  await refuseOwnLogin(ctx, entry, 'switched off')
  const control = firstOf(entry, 'userAccountControl')
  const off = withDisabled(control, true)
  if (control !== off) await set(ctx, entry, { userAccountControl: [off] })
  const { disabled_dn } = ctx.settings
  if (disabled_dn !== undefined && !isBelow(entry.dn, disabled_dn))
    await move(ctx, entry, disabled_dn)
}

/**
 * Enables an account. Also unlocks it after wrong passwords, and removes an expiry date in the past.
 *
 * @throws `invalid_value` if the settings name places where accounts would not be found
 */
export async function switchOn(ctx: Ctx, id: string): Promise<void> {
  checkPlaces(ctx)
  const entry = await readEntry(ctx, 'account', id, STATE_ATTRIBUTES)
  const control = firstOf(entry, 'userAccountControl')
  const on = withDisabled(control, false)
  const changes: Record<string, LdapValue[]> = {}
  if (control !== on) changes['userAccountControl'] = [on]
  if (Number(firstOf(entry, 'lockoutTime') ?? 0) > 0) changes['lockoutTime'] = ['0']
  if (isExpired(entry, Date.now())) changes['accountExpires'] = ['0']
  if (Object.keys(changes).length > 0) await set(ctx, entry, changes)
  const { disabled_dn } = ctx.settings
  if (disabled_dn !== undefined && isBelow(entry.dn, disabled_dn))
    await move(ctx, entry, newAccountsPlace(ctx))
}

const set = (ctx: Ctx, { dn }: LdapEntry, values: Record<string, LdapValue[]>): Promise<void> =>
  ctx.ldap.modify(dn, [{ replace: values }])

/**
 * Moves an account. If another entry in the target has its name, the account stays where it is: the caller
 * asked for the new state, not for the move.
 */
async function move(ctx: Ctx, { dn }: LdapEntry, place: string): Promise<void> {
  const isMoved = await unlessAlready(ctx.ldap.move(dn, movedDn(dn, place)), 'entryAlreadyExists')
  if (!isMoved)
    ctx.log.warn('An account stays where it is: the place that it goes to has its name', { place })
}
