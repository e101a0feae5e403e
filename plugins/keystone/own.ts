import { ConnectorError } from 'keyway/sdk'
import type { Grant } from './entitlements.ts'
import { type Ctx, service } from './service.ts'

/** Role that Keystone's policies require of administrators. */
const ADMIN = 'admin'

type Token = {
  user: { id: string }
  project: { id: string }
  roles: { id: string; name: string }[]
}

/**
 * Returns the user, project and roles of the connector's token. The host also inserts the token into this
 * header.
 */
async function readOwnToken(ctx: Ctx): Promise<Token> {
  const { token } = await service(ctx).get<{ token: Token }>('/auth/tokens', {
    query: { nocatalog: '' },
    headers: { 'x-subject-token': ctx.exchange ?? '' },
  })
  return token
}

/**
 * Refuses the connector's own user. Keystone lets an administrator disable or delete itself, which would lock
 * the connector out.
 *
 * @param what Effect on the user, such as `is gone`
 * @throws `unsupported_operation` if the user is the one that the connector logs in as
 */
export async function refuseOwnAccount(ctx: Ctx, id: string, what: string): Promise<void> {
  if (isSame((await readOwnToken(ctx)).user.id, id)) throw refusal(what)
}

/**
 * Refuses the role that the connector itself needs.
 *
 * @throws `unsupported_operation` for the role admin of its own user in the project that it logs in to
 */
export async function refuseOwnRole(ctx: Ctx, id: string, grant: Grant): Promise<void> {
  if (grant.type !== 'PROJECT_ROLE') return
  const { user, project, roles } = await readOwnToken(ctx)
  if (!isSame(user.id, id) || !isSame(project.id, grant.place)) return
  if (roles.some((one) => isSame(one.id, grant.role) && one.name.toLowerCase() === ADMIN))
    throw refusal('stops being an administrator')
}

/** Compares two ids, ignoring case. Ids are hexadecimal, and Keystone on MySQL finds them in any case. */
const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

const refusal = (what: string) =>
  new ConnectorError(
    'unsupported_operation',
    `The connector logs in as this user, and could not once it ${what}. Use another administrator`,
    { app_error_code: 'own_account' },
  )
