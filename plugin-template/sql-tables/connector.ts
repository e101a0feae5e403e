import {
  type ConnectorContext,
  ConnectorError,
  type ConnectorErrorDetails,
  defineConnector,
  flagOf,
  hasCode,
  keysCursor,
  nameOf,
  type Output,
  rowsPage,
  type SqlRow,
  type SqlStep,
  startsActive,
  textCursor,
  textOf,
} from 'keyway/sdk'
import type { Connector } from './connector.types.ts'

type Ctx = ConnectorContext<Connector>

/** One statement of a transaction. */
type Step = SqlStep<Connector['statements']>

const SIZE = 500

/** Id below every id of a table: the first cursor. */
const BEFORE_ALL = '0'

export default defineConnector<Connector>({
  async validate_credentials(_request, ctx) {
    const { rows } = await ctx.sql.query('server')
    // Fails now with permission_denied if the user may not read the tables.
    await ctx.sql.query('people', [BEFORE_ALL, 1])
    await ctx.sql.query('groups', [BEFORE_ALL, 1])
    await ctx.sql.query('members', [BEFORE_ALL, BEFORE_ALL, 1])
    return { valid: true, unique_tenant_id: rows.map((row) => nameOf(row, 'id')).join() }
  },

  async list_accounts(_request, ctx) {
    const size = ctx.page.size ?? SIZE
    const { rows } = await ctx.sql.query('people', [textCursor(ctx) ?? BEFORE_ALL, size])
    return rowsPage(rows, size, toAccount, idOf)
  },

  async get_account(request, ctx) {
    const { rows } = await ctx.sql.query('person', [idFrom(request.account_id)])
    const [account] = rows.map(toAccount)
    if (account === undefined) throw noSuch()
    return account
  },

  async list_entitlements(_request, ctx) {
    const size = ctx.page.size ?? SIZE
    const { rows } = await ctx.sql.query('groups', [textCursor(ctx) ?? BEFORE_ALL, size])
    const toGroup = (row: SqlRow) => ({
      entitlement_type: 'GROUP',
      integration_specific_id: idOf(row),
      integration_specific_resource_id: '', // the global resource
      label: nameOf(row, 'title'),
    })
    return rowsPage(rows, size, toGroup, idOf)
  },

  async find_entitlement_associations(_request, ctx) {
    const size = ctx.page.size ?? SIZE
    const [person, group] = keysCursor(ctx, [BEFORE_ALL, BEFORE_ALL])
    const { rows } = await ctx.sql.query('members', [person, group, size])
    const toMembership = (row: SqlRow) => ({
      account_id: nameOf(row, 'person_id'),
      integration_specific_entitlement_id: nameOf(row, 'group_id'),
      integration_specific_resource_id: '',
    })
    return rowsPage(rows, size, toMembership, (last) => [
      nameOf(last, 'person_id'),
      nameOf(last, 'group_id'),
    ])
  },

  // A taken login is refused by its unique index: 23505, which callers get as bad_request.
  async create_account(request, ctx) {
    const login = request.username ?? request.email
    if (login === undefined)
      throw new ConnectorError('integration_missing_parameter', 'An account needs a username')
    const { email = null, given_name = null, family_name = null } = request
    const isActive = startsActive(request.user_status)
    const groups = request.entitlements.map((one) => idFrom(one.integration_specific_id))
    // The account with its groups, or nothing.
    const add: Step = {
      statement: 'add_person',
      parameters: [login, email, given_name, family_name, isActive],
    }
    const join = (group: string): Step => ({
      statement: 'join_group_by_login',
      parameters: [group, login],
    })
    await unlessUnknown(ctx.sql.transaction([add, ...groups.map(join)]))
    const { rows } = await ctx.sql.query('person_of_login', [login])
    const id = rows.map(idOf).join()
    return { status: isActive ? 'ACTIVE' : 'SUSPENDED', created: true, id }
  },

  // A field that is left out keeps its value. An empty text clears it.
  async update_account(request, ctx) {
    const { email = null, given_name = null, family_name = null } = request
    const id = idFrom(request.id)
    const touched = await ctx.sql.execute('change_person', [id, email, given_name, family_name])
    if (touched === 0) throw noSuch()
    return { id }
  },

  async activate_account(request, ctx) {
    await switchPerson(ctx, request.account_id, true)
    return { status: 'ACTIVE', activated: true }
  },

  async deactivate_account(request, ctx) {
    await switchPerson(ctx, request.account_id, false)
    return { status: 'SUSPENDED', deactivated: true }
  },

  // The table of members refers to people with `on delete cascade`.
  async delete_account(request, ctx) {
    const touched = await ctx.sql.execute('remove_person', [idFrom(request.account_id)])
    if (touched === 0) throw noSuch()
    return { status: 'DELETED', deleted: true }
  },

  // Nothing to do is a success. An unknown account or group is not_found.
  async assign_entitlement(request, ctx) {
    await unlessUnknown(ctx.sql.execute('join_group', idsFrom(request)))
    return { assigned: true }
  },

  async unassign_entitlement(request, ctx) {
    const ids = idsFrom(request)
    const touched = await ctx.sql.execute('leave_group', ids)
    if (touched === 0) {
      const { rows } = await ctx.sql.query('are_known', ids)
      if (!rows.some((row) => flagOf(row, 'known'))) throw noSuch()
    }
    return { unassigned: true }
  },
})

const idOf = (row: SqlRow): string => nameOf(row, 'id')

const toAccount = (row: SqlRow): Output<'list_accounts'>[number] => ({
  integration_specific_id: idOf(row),
  username: textOf(row, 'login'),
  email: textOf(row, 'mail'),
  given_name: textOf(row, 'given_name'),
  family_name: textOf(row, 'family_name'),
  user_status: flagOf(row, 'active') ? 'ACTIVE' : 'SUSPENDED',
})

/** Callers send any text as an id. PostgreSQL would refuse `x`, and read `03` as 3. */
function idFrom(text: string): string {
  if (/^[1-9][0-9]{0,17}$/.test(text)) return text
  throw noSuch()
}

/** Returns the ids of the group and of the account that a request names. */
const idsFrom = (request: {
  entitlement_integration_specific_id: string
  account_integration_specific_id: string
}): [group: string, person: string] => [
  idFrom(request.entitlement_integration_specific_id),
  idFrom(request.account_integration_specific_id),
]

/** Throws not_found if a row refers to a missing one (foreign_key_violation). */
async function unlessUnknown(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!hasCode(error, 'bad_request') || error.app_error_code !== '23503') throw error
    throw noSuch(error)
  }
}

async function switchPerson(ctx: Ctx, id: string, active: boolean): Promise<void> {
  const touched = await ctx.sql.execute('switch_person', [idFrom(id), active])
  if (touched === 0) throw noSuch()
}

const noSuch = (cause: ConnectorErrorDetails = {}): ConnectorError =>
  new ConnectorError('not_found', 'There is no such account or group', cause)
