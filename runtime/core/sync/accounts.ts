/** Writes pages of accounts. */
import { sql } from 'drizzle-orm'
import type { Output } from '../../contract/capabilities/capabilities.ts'
import { sameAttribute } from './attributes.ts'
import { tableOfColumns } from './columns.ts'
import { eachOf, isKeepable, listedText, MAX_ACCOUNT_ID, timeOrderedIds } from './kept.ts'
import type { SyncListing } from './listing.ts'
import type { Walk } from './runs.ts'
import { writeRows } from './write-rows.ts'

type FoundAccount = Output<'list_accounts'>[number]

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

/** How an account's status stands in the core; what is listed without one is in use. */
export const STATUSES: Record<NonNullable<FoundAccount['user_status']>, string> = {
  ACTIVE: 'ACTIVE',
  SUSPENDED: 'SUSPENDED',
  PENDING: 'STAGED',
  INACTIVE: 'ARCHIVED',
  DEPROVISIONED: 'DEPROVISIONED',
  DELETED: 'DEPROVISIONED',
}

/** An account's attributes: its custom ones, and of its extra data what is wanted by name and is a text or a number. */
function attributesOf(found: FoundAccount, wanted: readonly string[]): Record<string, string> {
  const all: Record<string, string> = {}
  const take = (name: string, value: unknown) => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      all[listedText(name, 200)] = listedText(String(value))
  }
  for (const name of wanted)
    if (Object.hasOwn(found.extra_data ?? {}, name)) take(name, found.extra_data?.[name])
  for (const [name, value] of Object.entries(found.custom_attributes ?? {})) take(name, value)
  if (found.username) take('username', found.username)
  return all
}

/** The same as JSON. Most accounts have a user name, and nothing else. */
function attributesJson(found: FoundAccount, wanted: readonly string[]): string {
  const { custom_attributes: custom, username } = found
  if (wanted.length > 0 || (custom !== null && custom !== undefined))
    return JSON.stringify(attributesOf(found, wanted))
  return username ? `{"username":${JSON.stringify(listedText(username))}}` : '{}'
}

const orNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : listedText(text)

/** Columns of rows that are written. */
const COLUMNS = {
  id: 'uuid',
  external: 'text',
  email: 'text',
  given: 'text',
  family: 'text',
  type: 'text',
  status: 'text',
  attributes: 'jsonb',
} as const

const toRow = (one: FoundAccount, wanted: readonly string[]) => ({
  /** Given when it is prepared. */
  id: '',
  external: one.integration_specific_id,
  email: orNull(one.email),
  given: orNull(one.given_name),
  family: orNull(one.family_name),
  type: one.account_type === 'service' ? 'SERVICE' : 'USER',
  status: STATUSES[one.user_status ?? 'ACTIVE'],
  attributes: attributesJson(one, wanted),
})

type Row = ReturnType<typeof toRow>

const keyOf = ({ external }: Row): string => external
const isKept = ({ external }: Row): boolean => isKeepable(external, MAX_ACCOUNT_ID)

export const ACCOUNTS: SyncListing<FoundAccount, Row[], Row> = {
  capability: 'list_accounts',
  request: (walk) => ({ custom_attributes: wantedAttributes(walk) }),
  arrive(walk, found) {
    const wanted = wantedAttributes(walk)
    return found.map((one) => toRow(one, wanted))
  },
  prepare(_walk, arrived) {
    const ids = timeOrderedIds(arrived.length, Date.now())
    return eachOf(arrived, isKept, keyOf, (row, n) => {
      row.id = ids[n] ?? ''
      return row
    })
  },
  made: ({ known }, rows) => known.add(rows),
  write(tx, walk, rows, { isNew }) {
    const { run, app, settings } = walk
    // By rules, if there are any, it is found later: nobody is to be told twice.
    const byEmail = settings.matchRules.length === 0
    return writeRows(tx, {
      ...{ isNew, count: rows.length, run: run.id },
      given: sql`select * from ${tableOfColumns('row', COLUMNS, rows)}`,
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

/** A list of texts as PostgreSQL reads it. */
const textArray = (texts: readonly string[]) =>
  sql`array(select json_array_elements_text(${JSON.stringify(texts)}::json))`
