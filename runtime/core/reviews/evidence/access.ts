/** Evidence of a person's access at a given time: what they held, and who decided on it. */
import { sql } from 'drizzle-orm'
import { membersOf } from '../../../contract/schema/record.ts'
import type { Db } from '../../../database/database.ts'
import { listUserAccess } from '../../catalogue/apps/access.ts'
import { type Moment, spanHolds } from '../../history/as-of.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { type EvidenceLine, evidenceLine } from './content.ts'
import { FORM } from './form.ts'
import { chainHeadOf, logLines } from './log-lines.ts'

/** Number of rows read at once. */
const SIZE = 100

type Held = { id: string; email: string; givenName: string; familyName: string; status: string }

/**
 * Returns all lines but the page and the seal, in order.
 *
 * @param at time that the file names
 * @throws CoreError forbidden
 */
export async function* accessLines(
  tx: Db,
  principal: Principal,
  { id, email, givenName, familyName, status }: Held,
  { asOf, at }: { asOf: Date | null; at: Date },
  takenAt: Date,
): AsyncGenerator<EvidenceLine> {
  const pageOf = (page: number) =>
    listUserAccess(tx, principal, id, { as_of: asOf, page, size: SIZE })
  const first = await pageOf(1)
  yield evidenceLine('access', {
    ...{ form: FORM, taken_at: takenAt.toISOString(), final: true, domain_id: principal.domainId },
    access: { id, name: email, status, as_of: at.toISOString(), held: first.total },
    person: { id, email, name: `${givenName} ${familyName}`.trim() },
  })
  const origins = await originsOf(tx, principal, id, asOf ?? 'now', at)
  // Read twice, because people come first and a file is never held in memory as a whole.
  const entries = () => logLines(tx, origins)
  for (const one of await actorsIn(tx, principal, entries())) yield evidenceLine('person', one)
  yield evidenceLine('chain', await chainHeadOf(tx, principal))
  for (let page = 1; page <= Math.max(1, first.pages); page += 1) {
    const { items } = page === 1 ? first : await pageOf(page)
    for (const one of items) yield evidenceLine('held', one)
  }
  for await (const one of entries()) yield evidenceLine('log', one)
}

/** Returns the requests and policies that granted a person's access, and the first time one was created. */
async function originsOf(
  tx: Db,
  { domainId }: Principal,
  userId: string,
  at: Moment,
  orElse: Date,
) {
  const { rows } = await tx.execute<{ ids: string[] | null; begun: Date | string | null }>(sql`
    with given as (
      select request_id, policy_id, since from reason_spans s
      where user_id = ${userId} and ${spanHolds('s', at)}
    ), origin as (
      select g.request_id as id, coalesce(r.created_at, g.since) as begun
      from given g left join access_requests r on r.id = g.request_id
      union select g.policy_id, coalesce(p.created_at, g.since)
      from given g left join access_policies p on p.id = g.policy_id where g.policy_id is not null
    ) select array_agg(distinct id::text) as ids, min(begun) as begun from origin`)
  const [found] = rows
  return { domainId, ids: found?.ids ?? [], createdAt: new Date(found?.begun ?? orElse) }
}

/** Returns the people who acted in log entries. */
async function actorsIn(
  tx: Db,
  { domainId }: Principal,
  entries: AsyncIterable<Record<string, unknown>>,
) {
  const acted = new Set<string>()
  for await (const { body } of entries) {
    const [, , , actor, , metadata] = JSON.parse(`[${body}]`)
    for (const one of [membersOf(actor)['id'], membersOf(metadata)['on_behalf_of']])
      if (typeof one === 'string') acted.add(one)
  }
  const { rows } = await tx.execute<{ id: string; email: string; name: string }>(sql`
    select id, email, trim(given_name || ' ' || family_name) as name from users
    where domain_id = ${domainId} and id::text = any(${sql.param([...acted])}::text[]) order by id`)
  return rows
}
