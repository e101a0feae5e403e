/** What WordPress would do, and nobody wants: lock everybody out. */
import { ConnectorError } from 'keyway/sdk'
import type { User } from './accounts.ts'
import { ADMINISTRATOR } from './entitlements.ts'
import { ask, type Ctx } from './service.ts'

/** Whose application password this is, and what it may do. */
export type Me = { id: number; username: string; capabilities?: { [name: string]: boolean } }

export const whoAmI = (ctx: Ctx): Promise<Me> =>
  ask<Me>(ctx, 'GET', '/wp/v2/users/me', {
    query: { context: 'edit', _fields: 'id,username,capabilities' },
  })

/**
 * WordPress lets the user of an application password take its own roles, and delete itself; and it lets the
 * last administrator go.
 *
 * @param what What becomes of the user, such as `is deleted`.
 * @returns whose application password this is
 * @throws unsupported_operation with the code `own_account` or `last_administrator`.
 */
export async function mayBeTaken(ctx: Ctx, user: User, what: string): Promise<Me> {
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
