/**
 * References in documents: ids in stored documents, objects on the wire. Both directions use the same table
 * of places (`ReferencePlace`). Objects of a kind are looked up in one query.
 */
import { and, eq } from 'drizzle-orm'
import { CoreError, type ValidationEntry } from '../../../contract/errors/problem.ts'
import type { InlineWebhookType } from '../../../contract/models/inline-webhook.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import type { Db } from '../../../database/database.ts'
import {
  inlineWebhooks,
  requestablePermissions,
  type StoredDocument,
} from '../../../database/schema/app_store.ts'
import { apps } from '../../../database/schema/apps.ts'
import { groups, users } from '../../../database/schema/people.ts'
import { toGroup, toUser } from '../../directory/users.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { anyOf, lookUp, type ReferenceKeys, type ReferenceKind, referenceKey } from './lookups.ts'
import { toPermissionBase } from './permission-base.ts'
import { toWebhook } from './webhooks.ts'

/** Place of a reference in a document. `*` stands for every entry of a list. */
export type ReferencePlace = {
  path: readonly string[]
  kind: ReferenceKind
  /** Type that a webhook must have here. */
  hookType?: InlineWebhookType
}

type Loc = (string | number)[]

/**
 * Replaces the values at a path. A value that becomes undefined is removed from its list, or becomes null
 * outside one.
 */
function mapAt(
  value: unknown,
  path: readonly string[],
  loc: Loc,
  replace: (value: unknown, loc: Loc) => unknown,
): unknown {
  const [step, ...rest] = path
  if (step === undefined) return replace(value, loc)
  if (step === '*') {
    if (!Array.isArray(value)) return value
    return value
      .map((one, index) => mapAt(one, rest, [...loc, index], replace))
      .filter((one) => one !== undefined)
  }
  const members = membersOf(value)
  const child = members[step]
  if (child === undefined || child === null) return value
  return { ...members, [step]: mapAt(child, rest, [...loc, step], replace) ?? null }
}

function mapPlaces(
  document: StoredDocument,
  places: readonly ReferencePlace[],
  loc: Loc,
  replace: (value: unknown, place: ReferencePlace, loc: Loc) => unknown,
): StoredDocument {
  let mapped = document
  for (const place of places)
    mapped = membersOf(mapAt(mapped, place.path, loc, (value, at) => replace(value, place, at)))
  return mapped
}

/**
 * Replaces the references of a body by ids.
 *
 * @param loc path of the document in the body, for the entries of an error
 * @param appId the app whose permissions the body may refer to
 * @throws CoreError `invalid`, with an entry for each reference to a missing object
 */
export async function toIds(
  db: Db,
  { domainId }: Pick<Principal, 'domainId'>,
  document: StoredDocument,
  { places, loc, appId }: { places: readonly ReferencePlace[]; loc: Loc; appId: string },
): Promise<StoredDocument> {
  const wanted: { base: ReferenceKeys; kind: ReferenceKind }[] = []
  mapPlaces(document, places, loc, (value, { kind }) => {
    wanted.push({ base: membersOf(value), kind })
    return value
  })
  const known = await lookUp(db, domainId, appId, wanted)
  const unknown: ValidationEntry[] = []
  const replaced = mapPlaces(document, places, loc, (value, { kind, hookType }, at) => {
    const found = known[kind].get(referenceKey(membersOf(value)))
    if (found && (!hookType || found.hookType === hookType)) return found.id
    const words = found
      ? `the webhook is of type ${found.hookType}; it must be of type ${hookType}`
      : MISSING[kind]
    unknown.push({ loc: at, type: 'value_error', msg: `Value error, ${words}` })
    return null
  })
  if (unknown.length > 0) throw new CoreError('invalid', unknown.slice(0, 100))
  return replaced
}

const MISSING: Record<ReferenceKind, string> = {
  group: 'there is no such group',
  user: 'there is no such user',
  webhook: 'there is no such inline webhook',
  permission: 'the app has no such permission',
}

/** Replaces the ids in documents by objects. Missing ones are left out of lists, and null elsewhere. */
export async function toObjects(
  db: Db,
  { domainId }: Pick<Principal, 'domainId'>,
  documents: readonly StoredDocument[],
  places: readonly ReferencePlace[],
): Promise<StoredDocument[]> {
  const wanted: Record<ReferenceKind, Set<string>> = {
    group: new Set(),
    user: new Set(),
    webhook: new Set(),
    permission: new Set(),
  }
  for (const document of documents)
    mapPlaces(document, places, [], (value, { kind }) => {
      wanted[kind].add(String(value))
      return value
    })
  const found = await load(db, domainId, wanted)
  return documents.map((document) =>
    mapPlaces(document, places, [], (value, { kind }) => found[kind].get(String(value))),
  )
}

/**
 * Returns a document unchanged for readers who see it `whole`. For requesters, removes all references,
 * including places that are added later.
 */
export const redactReferences = (
  { whole }: { whole: boolean },
  document: StoredDocument,
  places: readonly ReferencePlace[],
): StoredDocument => (whole ? document : mapPlaces(document, places, [], () => undefined))

type Objects = Record<ReferenceKind, Map<string, unknown>>

async function load(
  db: Db,
  domainId: string,
  wanted: Record<ReferenceKind, Set<string>>,
): Promise<Objects> {
  const { group, user, webhook, permission } = wanted
  const of = (table: typeof groups | typeof users | typeof inlineWebhooks, ids: Set<string>) =>
    and(eq(table.domainId, domainId), anyOf(table.id, [...ids]))
  const [groupRows, userRows, webhookRows, permissionRows] = [
    group.size > 0 ? await db.select().from(groups).where(of(groups, group)) : [],
    user.size > 0 ? await db.select().from(users).where(of(users, user)) : [],
    webhook.size > 0
      ? await db.select().from(inlineWebhooks).where(of(inlineWebhooks, webhook))
      : [],
    permission.size > 0
      ? await db
          .select({ permission: requestablePermissions, app: apps })
          .from(requestablePermissions)
          .innerJoin(apps, eq(apps.id, requestablePermissions.appId))
          .where(
            and(
              eq(requestablePermissions.domainId, domainId),
              anyOf(requestablePermissions.id, [...permission]),
            ),
          )
      : [],
  ]
  return {
    group: new Map(groupRows.map((row) => [row.id, toGroup(row)])),
    user: new Map(userRows.map((row) => [row.id, toUser(row)])),
    webhook: new Map(webhookRows.map((row) => [row.id, toWebhook(row)])),
    permission: new Map(
      permissionRows.map((row) => [row.permission.id, toPermissionBase(row.permission, row.app)]),
    ),
  }
}
