/** What evidence of a person's access at a moment says: what was held, and by whose decision. */
import { sql } from 'drizzle-orm'
import { membersOf } from '../../../contract/schema/record.ts'
import type { Db } from '../../../database/database.ts'
import { listUserAccess } from '../../catalogue/apps/access.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { type EvidenceLine, evidenceLine } from './content.ts'
import { FORM } from './form.ts'
import { chainLine, logLines } from './log-lines.ts'

/** Rows that are read at once. */
const SIZE = 100

type Held = { id: string; email: string; givenName: string; familyName: string; status: string }

/** All lines but the page and the seal, in their order. @throws CoreError forbidden */
export async function* accessLines(
  tx: Db,
  principal: Principal,
  { id, email, givenName, familyName, status }: Held,
  at: Date,
  takenAt: Date,
): AsyncGenerator<EvidenceLine> {
  const pageOf = (page: number) =>
    listUserAccess(tx, principal, id, { as_of: at, page, size: SIZE })
  const first = await pageOf(1)
  yield evidenceLine('access', {
    ...{ form: FORM, taken_at: takenAt.toISOString(), final: true, domain_id: principal.domainId },
    access: { id, name: email, status, as_of: at.toISOString(), held: first.total },
    person: { id, email, name: `${givenName} ${familyName}`.trim() },
  })
  const { entries, deciders } = await decisionsOn(tx, principal.domainId, id, at)
  for (const one of deciders) yield evidenceLine('person', one)
  yield evidenceLine('chain', await chainLine(tx, principal))
  for (let page = 1; page <= Math.max(1, first.pages); page += 1) {
    const { items } = page === 1 ? first : await pageOf(page)
    for (const one of items) yield evidenceLine('held', one)
  }
  for (const one of entries) yield evidenceLine('log', one)
}

/** The entries of the log about the requests and policies that gave what a person held, and who acted in them. */
async function decisionsOn(tx: Db, domainId: string, userId: string, at: Date) {
  const { rows } = await tx.execute<{ ids: string[] | null; begun: Date | string | null }>(sql`
    with given as (
      select request_id, policy_id, since from reason_spans
      where user_id = ${userId} and since <= ${at} and (until is null or until > ${at})
    ), origin as (
      select g.request_id as id, coalesce(r.created_at, g.since) as begun
      from given g left join access_requests r on r.id = g.request_id
      union select g.policy_id, coalesce(p.created_at, g.since)
      from given g left join access_policies p on p.id = g.policy_id where g.policy_id is not null
    ) select array_agg(distinct id::text) as ids, min(begun) as begun from origin`)
  const { ids, begun } = rows[0] ?? { ids: null, begun: null }
  const entries: Record<string, unknown>[] = []
  if (ids === null || begun === null) return { entries, deciders: [] }
  const acted = new Set<string>()
  for await (const entry of logLines(tx, { domainId, ids, createdAt: new Date(begun) })) {
    entries.push(entry)
    const [, , , actor, , metadata] = JSON.parse(`[${entry['body']}]`)
    for (const one of [membersOf(actor)['id'], membersOf(metadata)['on_behalf_of']])
      if (typeof one === 'string') acted.add(one)
  }
  const { rows: deciders } = await tx.execute<{ id: string; email: string; name: string }>(sql`
    select id, email, trim(given_name || ' ' || family_name) as name from users
    where domain_id = ${domainId} and id::text = any(${sql.param([...acted])}::text[]) order by id`)
  return { entries, deciders }
}
