/** Writes pages of accounts. */
import { sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { STANDINGS } from '../../contract/models/app.ts'
import { mapValues } from '../../contract/schema/keys.ts'
import { columnOf, type TableOf } from '../../contract/schema/table.ts'
import { isKeepable, MAX_ACCOUNT_ID } from '../kernel/kept-text.ts'
import { sameAttribute } from './attributes.ts'
import { rowsOfColumns } from './columns.ts'
import { type AccountRows, copyAccounts } from './copied-accounts.ts'
import type { SyncListing } from './listing.ts'
import type { Walk } from './runs.ts'
import { eachOf, listedText, timeOrderedIds } from './storable-texts.ts'
import { writeRows } from './write-rows.ts'

type ListedAccount = Output<'list_accounts'>[number]

/** Custom attributes that mappings and rules read. */
function wantedAttributes({ settings }: Walk): string[] {
  const { identity, matchRules } = settings
  const named = [
    ...matchRules.map(({ account }) => account),
    ...(identity ? Object.values(identity.attributes) : []),
    ...(identity?.manager ? [identity.manager.attribute] : []),
  ]
  return [...new Set(named)].filter((name) => !sameAttribute.includes(name))
}

/**
 * Members of a listed account that are always read. Extra data, usually the largest, is read only if mapped.
 */
const READ = [
  ...(['integration_specific_id', 'email', 'given_name', 'family_name', 'username'] as const),
  ...(['account_type', 'user_status', 'custom_attributes'] as const),
] as const

type FoundAccount = Pick<ListedAccount, (typeof READ)[number] | 'extra_data'>

type Attributes = Pick<FoundAccount, 'custom_attributes' | 'extra_data' | 'username'>

/**
 * Returns an account's attributes: the custom ones, and the wanted members of its extra data that are texts,
 * numbers or booleans.
 */
function attributesOf(
  { custom_attributes, extra_data, username }: Attributes,
  wanted: readonly string[],
): Record<string, string> {
  const all: Record<string, string> = {}
  const take = (name: string, value: unknown) => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      all[listedText(name, 200)] = listedText(String(value))
  }
  for (const name of wanted)
    if (Object.hasOwn(extra_data ?? {}, name)) take(name, extra_data?.[name])
  for (const [name, value] of Object.entries(custom_attributes ?? {})) take(name, value)
  if (username) take('username', username)
  return all
}

/** Returns an account's attributes as JSON. Most accounts have only a user name. */
function attributesJson(found: Attributes, wanted: readonly string[]): string {
  const { custom_attributes: custom, username } = found
  if (wanted.length > 0 || (custom !== null && custom !== undefined))
    return JSON.stringify(attributesOf(found, wanted))
  return username ? `{"username":${JSON.stringify(listedText(username))}}` : '{}'
}

const orNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : listedText(text)

/** Columns of an account that are written in addition to its ids. */
const MEMBERS = {
  email: 'text',
  given: 'text',
  family: 'text',
  type: 'text',
  status: 'text',
  attributes: 'jsonb',
} as const
const COLUMNS = { id: 'uuid', external: 'text', ...MEMBERS } as const

/** Accounts that were received and have no ids of Keyway yet. */
type Arrived = Omit<AccountRows, 'id'>

function arrivedOf(found: TableOf<FoundAccount>, wanted: readonly string[]): Arrived {
  const { count, columns } = found
  const { custom_attributes, extra_data, username } = columns
  const each = <V>(to: (n: number) => V): V[] => {
    const values: V[] = []
    // `Array.from` is several times slower.
    for (let n = 0; n < count; n += 1) values.push(to(n))
    return values
  }
  const texts = (values: readonly (string | null | undefined)[] | undefined) =>
    each((n) => orNull(values?.[n]))
  return {
    external: columnOf(found, 'integration_specific_id'),
    email: texts(columns.email),
    given: texts(columns.given_name),
    family: texts(columns.family_name),
    type: each((n) => (columns.account_type?.[n] === 'service' ? 'SERVICE' : 'USER')),
    status: each((n) => STANDINGS[columns.user_status?.[n] ?? 'ACTIVE']),
    attributes: each((n) => {
      const one = { custom_attributes: custom_attributes?.[n], extra_data: extra_data?.[n] }
      return attributesJson({ ...one, username: username?.[n] }, wanted)
    }),
  }
}

export const ACCOUNTS: SyncListing<ListedAccount, AccountRows, Arrived> = {
  capability: 'list_accounts',
  request: (walk) => ({ custom_attributes: wantedAttributes(walk) }),
  reads: (walk) => (wantedAttributes(walk).length === 0 ? READ : [...READ, 'extra_data']),
  arrive: (walk, found) => arrivedOf(found, wantedAttributes(walk)),
  prepare(_walk, arrived) {
    const ids = joined(arrived.map(({ external }) => external))
    const idAt = (n: number): string => ids[n] ?? ''
    const isKept = (n: number): boolean => isKeepable(idAt(n), MAX_ACCOUNT_ID)
    const { rows: places, ...prepared } = eachOf([...ids.keys()], isKept, idAt, (n) => n)
    const written = <V>(columns: readonly (readonly V[])[]): V[] => {
      const values = joined(columns)
      return places.length === ids.length ? values : places.flatMap((n) => values.slice(n, n + 1))
    }
    const rows: AccountRows = {
      id: timeOrderedIds(places.length, Date.now()),
      external: written([ids]),
      ...mapValues(MEMBERS, (_type, name) => written(arrived.map((page) => page[name]))),
    }
    return { rows, ...prepared }
  },
  made: ({ known }, { id, external }) => known.add(id, external),
  async write(tx, walk, rows, { isNew }) {
    const { run, app, settings } = walk
    // With match rules, the user is matched in a later phase, so that nobody is notified twice.
    const byEmail = settings.matchRules.length === 0
    const count = rows.external.length
    if (isNew) {
      await copyAccounts(tx, walk, rows, byEmail)
      return { written: count, repeated: 0 }
    }
    return writeRows(tx, {
      ...{ isNew, count, run: run.id },
      given: rowsOfColumns(COLUMNS, rows),
      insert: sql`
        insert into accounts (id, domain_id, app_id, account_type, status, unique_identifier, email,
          given_name, family_name, attributes, user_id, matched_by, discovered_at, sources, seen_run)
        select row.id, ${app.domainId}, ${app.id}, row.type, row.status, row.external, row.email,
          row.given, row.family, row.attributes, users.id,
          case when users.id is null then null else 'EMAIL' end,
          now(), ${textArray(app.sources)}, ${run.id}
        from row left join users on ${byEmail} and users.domain_id = ${app.domainId}
          and lower(users.email) = lower(row.email)`,
      update: sql`on conflict (app_id, unique_identifier) do update set
        account_type = excluded.account_type, status = excluded.status, email = excluded.email,
        given_name = excluded.given_name, family_name = excluded.family_name,
        attributes = excluded.attributes, seen_run = excluded.seen_run, gone_at = null,
        discovered_at = coalesce(accounts.discovered_at, excluded.discovered_at),
        updated_at = now()`,
      old: sql`select seen_run from accounts where accounts.app_id = ${app.id}
        and accounts.unique_identifier = row.external`,
    })
  },
}

/** Concatenates lists. `flat` would inspect each value. */
function joined<V>(lists: readonly (readonly V[])[]): V[] {
  const none: V[] = []
  return none.concat(...lists)
}

/** Returns a list of texts as an SQL array. */
const textArray = (texts: readonly string[]) =>
  sql`array(select json_array_elements_text(${JSON.stringify(texts)}::json))`
