/** Entitlements: roles, and privileges on databases. */
import {
  ConnectorError,
  chain,
  flagOf,
  type Listing,
  nameOf,
  type Output,
  type Paged,
  rowsPage,
  textCursor,
  textOf,
} from 'keyway/sdk'
import { type Ctx, sizeOf } from './rows.ts'

type Entitlement = Output<'list_entitlements'>[number]

/** Governed privileges on a database, with descriptions. */
export const PRIVILEGES = {
  SELECT: 'Read rows',
  INSERT: 'Add rows',
  UPDATE: 'Change rows',
  DELETE: 'Delete rows',
  EXECUTE: 'Run procedures and functions',
  CREATE: 'Create tables',
  ALTER: 'Change tables',
  DROP: 'Drop tables and the database',
  INDEX: 'Create and drop indexes',
} as const
export type Privilege = keyof typeof PRIVILEGES

const isPrivilege = (name: string): name is Privilege => Object.hasOwn(PRIVILEGES, name)
const PRIVILEGE_NAMES = Object.keys(PRIVILEGES).filter(isPrivilege)

/** Entitlement, decoded from a request. */
export type Grant =
  | { type: 'ROLE'; role: string }
  | { type: 'PRIVILEGE'; database: string; privilege: Privilege }

/** Returns one page of databases, ordered by name. */
export async function listResources(ctx: Ctx): Promise<Paged<Output<'list_resources'>>> {
  const size = sizeOf(ctx)
  const { rows } = await ctx.sql.query('databases', [textCursor(ctx) ?? '', size])
  ctx.raw(rows)
  const toResource = (name: string) => ({
    integration_specific_id: name,
    resource_type: 'DATABASE',
    label: name,
  })
  return rowsPage(
    rows,
    size,
    (row) => toResource(nameOf(row, 'name')),
    (last) => nameOf(last, 'name'),
  )
}

/** Returns one page of entitlements: roles, then the privileges on each database. */
export const listEntitlements = (ctx: Ctx): Promise<Paged<Entitlement[]>> =>
  chain<Entitlement>(ctx, { roles: rolesOf(ctx), privileges: privilegesOf(ctx) })

const rolesOf =
  (ctx: Ctx): Listing<Entitlement> =>
  async (at) => {
    const size = Math.min(at.size ?? sizeOf(ctx), sizeOf(ctx))
    const { rows } = await ctx.sql.query('roles', [textCursor({ page: at }) ?? '', size])
    ctx.raw(rows)
    return rowsPage(
      rows,
      size,
      (row) => ({
        entitlement_type: 'ROLE',
        integration_specific_id: nameOf(row, 'name'),
        integration_specific_resource_id: '',
        label: nameOf(row, 'name'),
        is_assignable: flagOf(row, 'assignable'),
      }),
      (last) => nameOf(last, 'name'),
    )
  }

const privilegesOf =
  (ctx: Ctx): Listing<Entitlement> =>
  async (at) => {
    const size = Math.ceil(Math.min(at.size ?? sizeOf(ctx), sizeOf(ctx)) / PRIVILEGE_NAMES.length)
    const { rows } = await ctx.sql.query('databases', [textCursor({ page: at }) ?? '', size])
    ctx.raw(rows)
    const { response, cursor } = rowsPage(
      rows,
      size,
      (row) => {
        const database = nameOf(row, 'name')
        const grantable = (textOf(row, 'grantable') ?? '').split(',')
        return PRIVILEGE_NAMES.map((name) => ({
          entitlement_type: 'PRIVILEGE',
          integration_specific_id: name,
          integration_specific_resource_id: database,
          label: `${name} on ${database}`,
          is_assignable: grantable.includes(name),
          description: PRIVILEGES[name],
        }))
      },
      (last) => nameOf(last, 'name'),
    )
    return { __paged: true, response: response.flat(), cursor }
  }

type Asked = {
  entitlement_type: string
  entitlement_integration_specific_id: string
  resource_integration_specific_id: string
}

/**
 * Decodes and reads a requested entitlement.
 *
 * @throws `not_found` if the role or database does not exist; `bad_request` if no such entitlement can exist
 */
export async function readGrant(ctx: Ctx, asked: Asked): Promise<Grant> {
  const { entitlement_type: type, entitlement_integration_specific_id: id } = asked
  const database = asked.resource_integration_specific_id
  if (type === 'ROLE') return { type, role: await existingName(ctx, 'role', id) }
  if (type !== 'PRIVILEGE' || !isPrivilege(id))
    throw new ConnectorError(
      'bad_request',
      `No such entitlement: a ROLE, or a PRIVILEGE of ${PRIVILEGE_NAMES.join(', ')} on a database`,
    )
  return { type, privilege: id, database: await existingName(ctx, 'database', database) }
}

async function existingName(
  ctx: Ctx,
  statement: 'role' | 'database',
  name: string,
): Promise<string> {
  const { rows } = await ctx.sql.query(statement, [name])
  const [row] = rows
  if (row !== undefined) return nameOf(row, 'name')
  throw new ConnectorError('not_found', `There is no such ${statement}, or it cannot be seen`, {
    app_error_code: statement === 'role' ? '1959' : '1049',
  })
}
