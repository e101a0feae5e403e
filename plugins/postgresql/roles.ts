/** Reads roles that do not log in. Accounts are members of them. */
import {
  ConnectorError,
  flagOf,
  nameOf,
  type Output,
  type Paged,
  rowsPage,
  type SqlRow,
  textCursor,
  textOf,
} from 'keyway/sdk'
import { type Ctx, sizeOf } from './rows.ts'

/** Returns one page of roles, ordered by name. */
export async function listEntitlements(ctx: Ctx): Promise<Paged<Output<'list_entitlements'>>> {
  const size = sizeOf(ctx)
  const { rows } = await ctx.sql.query('roles', [textCursor(ctx) ?? '', size])
  ctx.raw(rows)
  const toRole = (row: SqlRow) => ({
    entitlement_type: 'ROLE',
    integration_specific_id: nameOf(row, 'rolname'),
    integration_specific_resource_id: '',
    label: nameOf(row, 'rolname'),
    is_assignable: flagOf(row, 'assignable'),
    description: textOf(row, 'description'),
  })
  return rowsPage(rows, size, toRole, (last) => nameOf(last, 'rolname'))
}

/**
 * Returns the name of a role.
 *
 * @throws `not_found` if the id is unknown or is that of a role that logs in
 */
export async function readRole(ctx: Ctx, id: string): Promise<string> {
  const { rows } = await ctx.sql.query('role', [id])
  const [row] = rows
  if (row !== undefined) return nameOf(row, 'rolname')
  throw new ConnectorError('not_found', 'There is no such role, or it logs in', {
    app_error_code: '42704',
  })
}

/**
 * Refuses pg_database_owner. PostgreSQL itself makes the owner of each database the only member of this role
 * there.
 *
 * @throws `unsupported_operation` for that role
 */
export function requireGrantable(role: string): void {
  if (role === 'pg_database_owner')
    throw new ConnectorError(
      'unsupported_operation',
      'Nobody is made a member of pg_database_owner: its member is the owner of the database. An administrator changes that one (ALTER DATABASE ... OWNER TO)',
      { app_error_code: 'owners_role' },
    )
}
