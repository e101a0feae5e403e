/** The host's way to databases. */
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import { SQL_LIMITS, type SqlRequest } from '../../contract/connector/sql.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { SqlTarget } from '../rules/sql-rules.ts'
import { loginOf as heldBy } from '../wire/login.ts'
import { createRoom, type Room, type RoomOptions, type Trade } from '../wire/room.ts'
import { cancel, connect, type Login, type PostgresConnection } from './connect.ts'
import { parkedIdOf, perform, rollBack } from './perform.ts'
import { failureOf } from './results.ts'

/** A judged request, and who logs in for it. */
export type SqlAsked = { request: SqlRequest; target: SqlTarget; login: Login }

export type SqlRoom = Room<SqlAsked>

const POSTGRESQL: Trade<SqlAsked, PostgresConnection> = {
  far: { one: 'database', many: 'databases' },
  placeOf: ({ target }) => target,
  keyOf: ({ target, login }) => [target.database, login.username],
  open: ({ target, login }, means) => connect(target, login, means),
  perform,
  maxItemsOf: ({ request }) =>
    request.operation === 'query' && request.page ? request.page.size : SQL_LIMITS.maxRows + 1,
  parkedIdOf: ({ request }) => parkedIdOf(request),
  // A page goes on on its own connection alone.
  mayRepeat: ({ request }) => request.operation === 'query' && !request.page?.cursor,
  failureOf,
  isRefusal: ({ code }) => code === 'database_refused',
  mend: rollBack,
  async stop({ target }, connection, means) {
    const key = connection.cancelKey()
    if (key !== null) await cancel(target, key, means)
  },
}

/** Makes the room of one host process. */
export const createSqlRoom = (options: RoomOptions): SqlRoom => createRoom(POSTGRESQL, options)

/**
 * Who logs in, by the entry's declaration.
 *
 * @throws egress_secret where the call does not have the credential, or it may not go there
 */
export function loginOf(
  { credential, secrets, field }: SqlTarget,
  held: CallSecrets | null,
): Login {
  const login = heldBy(credential, { secrets, field, verb: 'logs in' }, held)
  // Without a password the library would look for one of the host's own.
  if (login.username !== '' && login.password !== '') return login
  throw new RuntimeError('database_refused', 'The user name or the password is empty', {
    wire: 'unauthenticated',
    appErrorCode: '28P01',
  })
}
