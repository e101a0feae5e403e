/** Switching accounts on and off: the bit, what else keeps a person out, and the place of the account. */
import {
  firstOf,
  isBelow,
  type LdapEntry,
  type LdapValue,
  movedDn,
  plainDn,
  unlessAlready,
} from 'keyway/sdk'
import { isExpired, STATE_ATTRIBUTES, withDisabled } from './control.ts'
import { type Ctx, checkPlaces, newAccountsPlace, readEntry } from './directory.ts'
import { refuseOwnLogin } from './own-login.ts'

/**
 * Switches an account off, and then moves it where the settings say: doing it twice is no error.
 *
 * @throws unsupported_operation for the account that the connector signs in as; invalid_value for places of the settings
 * where accounts would not be found
 */
export async function switchOff(ctx: Ctx, id: string): Promise<void> {
  checkPlaces(ctx)
  const entry = await readEntry(ctx, 'account', id, STATE_ATTRIBUTES)
  await refuseOwnLogin(ctx, entry, 'switched off')
  const control = firstOf(entry, 'userAccountControl')
  const off = withDisabled(control, true)
  if (control !== off) await set(ctx, entry, { userAccountControl: [off] })
  const { disabled_dn } = ctx.settings
  if (disabled_dn !== undefined && !isIn(entry, disabled_dn)) await move(ctx, entry, disabled_dn)
}

/**
 * Switches an account on: also one that is locked after wrong passwords, and one that ended by its date.
 *
 * @throws invalid_value for places of the settings where accounts would not be found
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
  if (disabled_dn !== undefined && isIn(entry, disabled_dn))
    await move(ctx, entry, newAccountsPlace(ctx))
}

const set = (ctx: Ctx, { dn }: LdapEntry, values: Record<string, LdapValue[]>): Promise<void> =>
  ctx.ldap.modify(dn, [{ replace: values }])

const isIn = ({ dn }: LdapEntry, place: string): boolean =>
  isBelow(plainDn(dn) ?? '', plainDn(place) ?? '')

/** Where another entry has the name, the account stays: it is switched, which is what was asked for. */
async function move(ctx: Ctx, { dn }: LdapEntry, place: string): Promise<void> {
  const isMoved = await unlessAlready(ctx.ldap.move(dn, movedDn(dn, place)), 'entryAlreadyExists')
  if (!isMoved)
    ctx.log.warn('An account stays where it is: the place that it goes to has its name', { place })
}
