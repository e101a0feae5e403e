/** Options of the scope filters of an app. */

import { type SQL, sql } from 'drizzle-orm'
import { notFound } from '../../contract/errors/problem.ts'
import {
  SCOPE_GROUPS,
  type ScopeFilterGroupOutput,
  type ScopeGroup,
} from '../../contract/models/review-scope.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import type { Db } from '../../database/database.ts'
import { accessReviewApps } from '../../database/schema/reviews.ts'
import { isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { SCOPES } from './scope-table.ts'

/** Maximum number of options returned per group. */
const MAX_OPTIONS = 200

type Query = { domain_app_id: string | null; arda_id: string | null }

/** Returns the options of the filters; without an app, the fixed ones only. @throws CoreError not_found */
export async function listScopeOptions(
  db: Db,
  { domainId }: Principal,
  { domain_app_id, arda_id }: Query,
) {
  const appId =
    arda_id === null
      ? domain_app_id === null
        ? null
        : await known(
            db,
            sql`select id from apps where id = ${idOr(domain_app_id)} and domain_id = ${domainId}`,
          )
      : await known(
          db,
          sql`select app_id as id from ${accessReviewApps} where id = ${idOr(arda_id)} and domain_id = ${domainId}`,
        )
  const scope_options: ScopeFilterGroupOutput[] = []
  for (const group of keysOf(SCOPE_GROUPS))
    scope_options.push(await optionsOf(db, group, domainId, appId))
  return { scope_options }
}

const idOr = (id: string): string => (isId(id) ? id : '00000000-0000-0000-0000-000000000000')

async function known(db: Db, question: ReturnType<typeof sql>): Promise<string> {
  const { rows } = await db.execute<{ id: string }>(question)
  const [row] = rows
  if (!row) throw notFound('App')
  return row.id
}

async function optionsOf(
  db: Db,
  group: ScopeGroup,
  domainId: string,
  appId: string | null,
): Promise<ScopeFilterGroupOutput> {
  const { name, type } = SCOPE_GROUPS[group]
  const { options } = SCOPES[group]
  const found =
    typeof options === 'function' ? await ofApp(db, options, domainId, appId) : (options ?? [])
  const items = found.slice(0, MAX_OPTIONS).map(({ label, value }) => ({
    ...{ group, name: name.slice(0, 255), label: label.slice(0, 255) },
    ...{ value: value.slice(0, 255), type: null },
  }))
  return {
    ...{ name, group, type, items },
    filter_input_template: options === null ? { group } : null,
    default_label: null,
    truncated: found.length > MAX_OPTIONS,
  }
}

async function ofApp(
  db: Db,
  options: (appId: string, domainId: string) => SQL,
  domainId: string,
  appId: string | null,
) {
  if (appId === null) return []
  const { rows } = await db.execute<{ label: string; value: string }>(
    sql`select label, value from (${options(appId, domainId)}) one
      order by label, value limit ${MAX_OPTIONS + 1}`,
  )
  return rows
}
