/** Lookup of the objects that a body refers to: one query per kind, in the caller's domain. */
import { and, asc, type Column, eq, type SQL, sql } from 'drizzle-orm'
import type { InlineWebhookType } from '../../../contract/models/inline-webhook.ts'
import type { Db } from '../../../database/database.ts'
import { inlineWebhooks, requestablePermissions } from '../../../database/schema/app_store.ts'
import { groups, users } from '../../../database/schema/people.ts'
import { isId } from '../../kernel/by-id.ts'

export type ReferenceKind = 'group' | 'user' | 'webhook' | 'permission'

/**
 * A reference in a body: by id, for a user also by e-mail address, for a group also by its app and its id
 * there.
 */
export type ReferenceKeys = {
  id?: string | null
  email?: string | null
  app_id?: string | null
  integration_specific_id?: string | null
}

/** Existing objects, by the `referenceKey` of their reference. */
type Known = Map<string, { id: string; hookType?: InlineWebhookType }>

/**
 * Returns the condition that a column is one of many ids, as one parameter: a statement allows at most 65535.
 */
export const anyOf = (column: Column, ids: string[]): SQL =>
  sql`${column} = any(${sql.param(ids)}::uuid[])`

const pairKey = (appId: string, specific: string): string => JSON.stringify([appId, specific])

/** Returns the key of a reference. References with equal keys name the same object. */
export const referenceKey = ({
  id,
  email,
  app_id,
  integration_specific_id,
}: ReferenceKeys): string =>
  id
    ? id.toLowerCase()
    : email
      ? addressKey(email)
      : pairKey((app_id ?? '').toLowerCase(), integration_specific_id ?? '')

const addressKey = (email: string): string => JSON.stringify([email.toLowerCase()])

/** Returns rows by id. Texts that are not ids are not queried. */
async function byId<R extends { id: string }>(
  ids: string[],
  ask: (ids: string[]) => Promise<R[]>,
): Promise<Map<string, R>> {
  const real = ids.filter(isId)
  const rows = real.length === 0 ? [] : await ask(real)
  return new Map(rows.map((row) => [row.id, row]))
}

const idsOf = (
  db: Db,
  table: typeof users | typeof groups,
  domainId: string,
  ids: string[],
): Promise<Known> =>
  byId(ids, (real) =>
    db
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.domainId, domainId), anyOf(table.id, real))),
  )

async function knownUsers(
  db: Db,
  domainId: string,
  ids: string[],
  addresses: string[],
): Promise<Known> {
  const known = await idsOf(db, users, domainId, ids)
  if (addresses.length === 0) return known
  const lowered = sql.param(addresses.map((one) => one.toLowerCase()))
  const rows = await db
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(eq(users.domainId, domainId), sql`lower(${users.email}) = any(${lowered}::text[])`))
  for (const { id, email } of rows) known.set(addressKey(email), { id })
  return known
}

async function knownGroups(
  db: Db,
  domainId: string,
  ids: string[],
  pairs: ReferenceKeys[],
): Promise<Known> {
  const known = await idsOf(db, groups, domainId, ids)
  const real = pairs.filter(({ app_id }) => isId(app_id ?? ''))
  if (real.length === 0) return known
  const appIds = sql.param(real.map(({ app_id }) => app_id))
  const specifics = sql.param(real.map((one) => one.integration_specific_id))
  const pair = sql`(${groups.appId}, ${groups.integrationSpecificId})`
  const rows = await db
    .select()
    .from(groups)
    .where(
      and(
        eq(groups.domainId, domainId),
        sql`${pair} in (select * from unnest(${appIds}::uuid[], ${specifics}::text[]))`,
      ),
    )
    .orderBy(asc(groups.id))
  for (const { id, appId, integrationSpecificId } of rows) {
    const key = pairKey(appId ?? '', integrationSpecificId)
    if (!known.has(key)) known.set(key, { id })
  }
  return known
}

/** Reads webhooks and locks them against deletion, like permissions. */
async function knownWebhooks(db: Db, domainId: string, ids: string[]): Promise<Known> {
  const { id, domainId: of, hookType } = inlineWebhooks
  return byId(ids, (real) =>
    db
      .select({ id, hookType })
      .from(inlineWebhooks)
      .where(and(eq(of, domainId), anyOf(id, real)))
      .orderBy(asc(id))
      .for('key share'),
  )
}

/**
 * Reads permissions and locks them against deletion until the transaction ends: a deletion looks for
 * references.
 */
async function knownPermissions(
  db: Db,
  domainId: string,
  appId: string,
  ids: string[],
): Promise<Known> {
  const { id, domainId: of, appId: app } = requestablePermissions
  return byId(ids, (real) =>
    db
      .select({ id })
      .from(requestablePermissions)
      .where(and(eq(of, domainId), eq(app, appId), anyOf(id, real)))
      .orderBy(asc(id))
      .for('key share'),
  )
}

/**
 * Looks up the objects that a body refers to.
 *
 * @param appId the app whose permissions the body may refer to
 */
export async function lookUp(
  db: Db,
  domainId: string,
  appId: string,
  wanted: readonly { base: ReferenceKeys; kind: ReferenceKind }[],
): Promise<Record<ReferenceKind, Known>> {
  const ids = (kind: ReferenceKind): string[] =>
    wanted.flatMap((one) => (one.kind === kind && one.base.id ? [one.base.id] : []))
  const addresses = wanted.flatMap(({ base: { id, email }, kind }) =>
    kind === 'user' && !id && email ? [email] : [],
  )
  const pairs = wanted.flatMap(({ base, kind }) => (kind === 'group' && !base.id ? [base] : []))
  return {
    group: await knownGroups(db, domainId, ids('group'), pairs),
    user: await knownUsers(db, domainId, ids('user'), addresses),
    webhook: await knownWebhooks(db, domainId, ids('webhook')),
    permission: await knownPermissions(db, domainId, appId, ids('permission')),
  }
}
