/**
 * Matches accounts with users: by the operator's rules in their order, then by e-mail address. A user that a
 * person or an upload has set is kept.
 */
import { type SQL, sql } from 'drizzle-orm'
import { accountAttribute, userAttribute } from './attributes.ts'
import { checkpoint, toNext, type Walk } from './runs.ts'

/**
 * Matches all accounts in one statement, so that each rule reads each table once, regardless of the number of
 * accounts.
 */
export const match = (walk: Walk): Promise<void> =>
  checkpoint(walk, async (tx) => {
    const { app, settings } = walk
    const rules = settings.matchRules.map(
      ({ account, user }): SQL => sql`
        select a.id, min(u.id::text)::uuid as user_id from accounts a
        join users u on u.domain_id = ${app.domainId}
          and ${userAttribute(user)} = lower(${accountAttribute(account)})
        where a.app_id = ${app.id} and a.gone_at is null
        -- Two users of one value: nobody can say which of them it is.
        group by a.id having count(*) = 1`,
    )
    const ways = rules.map((rule, n) => sql`rule_${sql.raw(String(n))} as (${rule})`)
    const joins = rules.map(
      (_, n) =>
        sql`left join rule_${sql.raw(String(n))} r${sql.raw(String(n))} on r${sql.raw(String(n))}.id = a.id`,
    )
    const found = rules.map((_, n) => sql`r${sql.raw(String(n))}.user_id`)
    const ruled = found.length === 0 ? sql`null::uuid` : sql`coalesce(${sql.join(found, sql`, `)})`
    // In the identity source, an account belongs to its user for good: its new address is the user's new
    // address.
    const rematched = settings.identity ? sql`` : sql`or a.matched_by in ('EMAIL', 'RULE')`
    const { rowCount } = await tx.execute(sql`
      ${ways.length === 0 ? sql`` : sql`with ${sql.join(ways, sql`, `)}`}
      update accounts set user_id = found.user_id, matched_by = found.way, updated_at = now()
      from (
        select a.id, coalesce(${ruled}, e.id) as user_id,
          case when ${ruled} is not null then 'RULE' when e.id is not null then 'EMAIL' end as way
        from accounts a
        left join users e on e.domain_id = ${app.domainId} and lower(e.email) = lower(a.email)
        ${sql.join(joins, sql` `)}
        where a.app_id = ${app.id} and a.gone_at is null
          and (a.user_id is null ${rematched})
      ) as found
      where accounts.id = found.id
        and (accounts.user_id, accounts.matched_by) is distinct from (found.user_id, found.way)`)
    return { ...toNext(walk), counted: { matched: rowCount ?? 0 } }
  })
