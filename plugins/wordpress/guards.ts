/** Guards against changes that WordPress allows, but that would lock everyone out. */
import { ConnectorError } from 'keyway/sdk'
import type { User } from './accounts.ts'
import { ADMINISTRATOR } from './entitlements.ts'
import { ask, type Ctx } from './service.ts'

/** User that the application password belongs to, with its capabilities. */
export type Me = { id: number; username: string; capabilities?: { [name: string]: boolean } }

export const whoAmI = (ctx: Ctx): Promise<Me> =>
  ask<Me>(ctx, 'GET', '/wp/v2/users/me', {
    query: { context: 'edit', _fields: 'id,username,capabilities' },
  })

/**
 * Refuses the connector's own user and the last administrator. WordPress lets the user of an application
 * password revoke its own roles and delete itself, and lets the last administrator be removed.
 *
 * @param what Effect on the user, such as `is deleted`
 * @returns the user of the application password
 * @throws `unsupported_operation` with the code `own_account` or `last_administrator`
 */
export async function refuseProtectedUser(ctx: Ctx, user: User, what: string): Promise<Me> {
  const me = await whoAmI(ctx)
  if (me.id === user.id)
    throw refusal(
      'own_account',
      `The account's own application password is in use here, and would not work once it ${what}. Use one of another administrator`,
    )
  if (user.roles.includes(ADMINISTRATOR)) {
    const left = await ask<{ id: number }[]>(ctx, 'GET', '/wp/v2/users', {
      query: { context: 'edit', _fields: 'id', roles: ADMINISTRATOR, per_page: 2 },
    })
    if (left.every(({ id }) => id === user.id))
      throw refusal(
        'last_administrator',
        `Nobody would be an administrator of the site any more once this user ${what}. Make another one first`,
      )
  }
  return me
}

const refusal = (app_error_code: string, message: string) =>
  new ConnectorError('unsupported_operation', message, { app_error_code })
