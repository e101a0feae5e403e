/** Who has which role, and which right on which database: read, granted and revoked. */
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

const THING = ['kind', 'resource', 'entitlement']
const KEY = ['host', 'user', ...THING]

/**
 * One page of what accounts have, by account. An account that has nothing has a row as well, so that a page reads no
 * further than its accounts: all that everybody has would be read again for every page.
 */
export async function findAssociations(ctx: Ctx): Promise<Paged<Association[]>> {
  const size = sizeOf(ctx)
  const after = keysCursor(ctx, ['', '', '', '', ''])
  // One account more: all that the first one has may have been given.
  const { rows } = await ctx.sql.query('held', [isEffective(ctx), ...after, size, size + 1])
  ctx.raw(rows)
  const { response, cursor } = rowsPage(
    rows,
    size,
    (row) => (nameOf(row, 'kind') === '' ? [] : [toAssociation(row)]),
    (last) => KEY.map((column) => nameOf(last, column)),
  )
  return paged(response.flat(), cursor)
}

/** One page of what one account has. */
export async function getAccountAssociations(
  request: Input<'get_account_entitlement_associations'>,
  ctx: Ctx,
): Promise<Paged<Association[]>> {
  const { user, host } = await readWho(ctx, request.account_id)
  const size = sizeOf(ctx)
  const after = keysCursor(ctx, ['', '', ''])
  const { rows } = await ctx.sql.query('held', [isEffective(ctx), host, user, ...after, size, 1])
  ctx.raw(rows)
  // Where the account has gone meanwhile, the page is of the next one.
  const isIts = (row: SqlRow) => nameOf(row, 'user') === user && nameOf(row, 'host') === host
  const { response, cursor } = rowsPage(
    rows,
    size,
    (row) => (isIts(row) ? [toAssociation(row)] : []),
    (last) => THING.map((column) => nameOf(last, column)),
  )
  return paged(response.flat(), cursor)
}

/** Grants a role or a right; one that is there stays. */
export async function assignEntitlement(
  request: Input<'assign_entitlement'>,
  ctx: Ctx,
): Promise<Output<'assign_entitlement'>> {
  const who = await readWho(ctx, request.account_integration_specific_id)
  await give(ctx, who, await readGrant(ctx, request))
  return { assigned: true }
}

/** Grants what was read. */
export async function give(ctx: Ctx, who: Who, grant: Grant): Promise<void> {
  if (grant.type === 'ROLE') {
    await ctx.sql.execute('grant_role', [], { ...who, role: grant.role })
    return
  }
  const database = patternOf(grant.database)
  await ctx.sql.execute(GRANTS[grant.privilege], [], { ...who, database })
}

/**
 * Takes a role or a right from an account; one that is not there is gone already. What is open keeps a role that is
 * switched on and the database that it is in, so the connections of the account are ended.
 *
 * @throws permission_denied where the user of the connector may not take it, unsupported_operation for a right that
 * comes by a pattern of several databases, and with effective associations for what comes by a role
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
  // Those of the connector's own account carry out just this.
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
    // Others are for more than this one.
    if (pattern.replace(/\\([\\_%])/g, '$1') !== database) continue
    await unlessAlready(ctx.sql.execute(statement, [], { ...who, database: pattern }), '1141')
  }
}

const isEffective = (ctx: Ctx): boolean => ctx.settings.associations === 'effective'

/** A grant names databases by a pattern: what stands for others is escaped. */
const patternOf = (database: string): string => database.replace(/[\\_%]/g, '\\$&')

/** Privileges are words of a statement, so each has its own. */
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
