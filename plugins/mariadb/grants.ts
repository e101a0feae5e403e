/** Reads, grants and revokes roles and privileges. */
import {
  ConnectorError,
  flagOf,
  type Input,
  keysCursor,
  nameOf,
  type Output,
  type Paged,
  paged,
  rowsPage,
  type SqlRow,
  unlessAlready,
} from 'keyway/sdk'
import { readAccount, readWho } from './accounts.ts'
import type { Connector } from './connector.types.ts'
import { type Grant, type Privilege, readGrant } from './entitlements.ts'
import { type Ctx, idOf, sizeOf, type Who, whoOf } from './rows.ts'
import { endSessions } from './sessions.ts'

type Association = Output<'find_entitlement_associations'>[number]

const GRANT_COLUMNS = ['kind', 'resource', 'entitlement']
const ASSOCIATION_COLUMNS = ['host', 'user', ...GRANT_COLUMNS]

/**
 * Returns one page of associations, ordered by account. An account without any has a row as well, so that a
 * page reads no further than its accounts. Otherwise every page would read the grants of all accounts again.
 */
export async function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  const size = sizeOf(ctx)
  const after = keysCursor(ctx, ['', '', '', '', ''])
  // Read one more account: the previous page may have returned all grants of the first one.
  const { rows } = await ctx.sql.query('held', [isEffective(ctx), ...after, size, size + 1])
  ctx.raw(rows)
  const { response, cursor } = rowsPage(
    rows,
    size,
    (row) => (nameOf(row, 'kind') === '' ? [] : [toAssociation(row)]),
    (last) => ASSOCIATION_COLUMNS.map((column) => nameOf(last, column)),
  )
  return paged(response.flat(), cursor)
}

/** Returns one page of one account's associations. */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Paged<Association[]>> {
  const { user, host } = await readWho(ctx, request.account_id)
  const size = sizeOf(ctx)
  const after = keysCursor(ctx, ['', '', ''])
  const { rows } = await ctx.sql.query('held', [isEffective(ctx), host, user, ...after, size, 1])
  ctx.raw(rows)
  // If the account was dropped in the meantime, the page is that of the next account.
  const isOfAccount = (row: SqlRow) => nameOf(row, 'user') === user && nameOf(row, 'host') === host
  const { response, cursor } = rowsPage(
    rows,
    size,
    (row) => (isOfAccount(row) ? [toAssociation(row)] : []),
    (last) => GRANT_COLUMNS.map((column) => nameOf(last, column)),
  )
  return paged(response.flat(), cursor)
}

/** Grants a role or a privilege. Granting it again changes nothing. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const who = await readWho(ctx, request.account_integration_specific_id)
  await addGrant(ctx, who, await readGrant(ctx, request))
  return { assigned: true }
}

/** Grants an entitlement to an account. */
export async function addGrant(ctx: Ctx, who: Who, grant: Grant): Promise<void> {
  if (grant.type === 'ROLE') {
    await ctx.sql.execute('grant_role', [], { ...who, role: grant.role })
    return
  }
  const database = patternOf(grant.database)
  await ctx.sql.execute(GRANTS[grant.privilege], [], { ...who, database })
}

/**
 * Revokes a role or a privilege. Revoking one that is not held is not an error. An open connection keeps an
 * enabled role and its current database, so the account's connections are ended.
 *
 * @throws `permission_denied` if the connector's user may not revoke it; `unsupported_operation` for a
 * privilege that comes from a pattern matching several databases, and, with effective associations, for one
 * that comes through a role
 */
export async function unassignEntitlement(
  request: Input<'unassign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'unassign_entitlement'>> {
  const row = await readAccount(ctx, request.account_integration_specific_id)
  const who = whoOf(row)
  const grant = await readGrant(ctx, request)
  if (grant.type === 'ROLE') {
    const { role } = grant
    await unlessAlready(ctx.sql.execute('revoke_role', [], { ...who, role }), '1962')
  } else await revoke(ctx, who, grant.database, REVOKES[grant.privilege])
  const thing =
    grant.type === 'ROLE'
      ? (['ROLE', '', grant.role] as const)
      : (['PRIVILEGE', grant.database, grant.privilege] as const)
  const left = await ctx.sql.query('holds', [isEffective(ctx), who.user, who.host, ...thing])
  if (left.rows.length > 0)
    throw new ConnectorError(
      'unsupported_operation',
      'The account still has it, through a role or by a grant on a pattern of databases, and can only be taken out of that',
      { app_error_code: 'held_in_another_way' },
    )
  // The connector's own connections carry out this call.
  if (!flagOf(row, 'own')) await endSessions(ctx, who)
  return { unassigned: true }
}

async function revoke(
  ctx: Ctx,
  who: Who,
  database: string,
  statement: (typeof REVOKES)[Privilege],
): Promise<void> {
  const { rows } = await ctx.sql.query('patterns', [who.user, who.host, database])
  for (const row of rows) {
    const pattern = nameOf(row, 'pattern')
    // Other patterns also match other databases.
    if (pattern.replace(/\\([\\_%])/g, '$1') !== database) continue
    await unlessAlready(ctx.sql.execute(statement, [], { ...who, database: pattern }), '1141')
  }
}

const isEffective = (ctx: Ctx): boolean => ctx.settings.associations === 'effective'

/** Escapes a database name. A grant names databases by a pattern with wildcards. */
const patternOf = (database: string): string => database.replace(/[\\_%]/g, '\\$&')

/** Statements by privilege. A privilege is a keyword, so each one needs its own statement. */
const GRANTS = {
  SELECT: 'grant_select',
  INSERT: 'grant_insert',
  UPDATE: 'grant_update',
  DELETE: 'grant_delete',
  EXECUTE: 'grant_execute',
  CREATE: 'grant_create',
  ALTER: 'grant_alter',
  DROP: 'grant_drop',
  INDEX: 'grant_index',
} as const satisfies Record<Privilege, keyof Connector['statements']>

const REVOKES = {
  SELECT: 'revoke_select',
  INSERT: 'revoke_insert',
  UPDATE: 'revoke_update',
  DELETE: 'revoke_delete',
  EXECUTE: 'revoke_execute',
  CREATE: 'revoke_create',
  ALTER: 'revoke_alter',
  DROP: 'revoke_drop',
  INDEX: 'revoke_index',
} as const satisfies Record<Privilege, keyof Connector['statements']>

const toAssociation = (row: SqlRow): Association => ({
  account_id: idOf(whoOf(row)),
  integration_specific_entitlement_id: nameOf(row, 'entitlement'),
  integration_specific_resource_id: nameOf(row, 'resource'),
})
