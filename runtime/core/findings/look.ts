/** Looks at an app, or at a domain as a whole. Works in batches, each judged by the pure rules. */
import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { wakeUnblocked } from '../separation/blocked.ts'
import { rulesInForce } from '../separation/check.ts'
import { labelsOf, nextHolders, ruleTargets } from '../separation/holdings.ts'
import { broken } from '../separation/rules.ts'
import { WITH_LONG_STATEMENTS } from '../sync/runs.ts'
import { appFacts, BEGIN, nextAccountsHeld, requestableEntitlementsOf } from './facts.ts'
import { beginLook, type Look, wakeBy } from './look-schedule.ts'
import { type FoundIssue, findingOfDuties, findingsOfAccount, findingsOfApp } from './rules.ts'
import { endAcceptances, resolveGone, type Where, writeFound } from './write.ts'

/** Number of accounts judged at once. */
const BATCH = 500
/** Number of people judged at once. Each batch queries everything that they hold. */
const PEOPLE = 5000

type Parts = Pick<RequestContext, 'connectors' | 'now' | 'signal'>

/** Looks at an app or a domain. Does nothing if it no longer exists. */
export async function lookAt(db: Db, look: Look, parts: Parts): Promise<void> {
  const where =
    look.kind === 'app' ? await lookAtApp(db, look, parts) : await lookAtDomain(db, look, parts)
  if (where === null) return
  const now = await parts.now(db)
  const next = await db.transaction((tx) => endAcceptances(tx, where, now))
  if (next !== null) await wakeBy(db, look, next)
}

async function lookAtApp(db: Db, look: Look, parts: Parts): Promise<Where | null> {
  const [app] = await db.select().from(apps).where(eq(apps.id, look.id))
  if (!app) return null
  await beginLook(db, look, app.domainId)
  const now = await parts.now(db)
  const { facts, lastRun } = await appFacts(db, app, parts.connectors)
  const where = { domainId: app.domainId, appId: app.id, lastRun }
  const askable = await requestableEntitlementsOf(db, app.id)
  let place = BEGIN
  for (;;) {
    parts.signal.throwIfAborted()
    const { accounts, last } = await nextAccountsHeld(db, app, askable, place, BATCH)
    if (last === null) break
    const found = accounts.flatMap((account) => findingsOfAccount(account, facts, now))
    const ids = accounts.map(({ accountId }) => accountId)
    const which = sql`account_id = any(${sql.param(ids)}::uuid[])`
    await db.transaction((tx) => writeFound(tx, where, found, which))
    place = last
  }
  await db.transaction(async (tx) => {
    await resolveGone(tx, where)
    await writeFound(tx, where, findingsOfApp(facts, now), sql`account_id is null`)
  })
  return where
}

async function lookAtDomain(db: Db, look: Look, { signal }: Parts): Promise<Where | null> {
  const { rows } = await db.execute(sql`select from domains where id = ${look.id}`)
  if (rows.length === 0) return null
  await beginLook(db, look, look.id)
  const where = { domainId: look.id, appId: null, lastRun: null }
  const rules = await rulesInForce(db, look.id)
  const named = ruleTargets(rules)
  let after = BEGIN.accountId
  for (;;) {
    signal.throwIfAborted()
    const from = after
    const people =
      rules.length === 0
        ? []
        : await db.transaction(async (tx) => {
            return nextHolders(tx, look.id, named, from, PEOPLE)
          }, WITH_LONG_STATEMENTS)
    const found: FoundIssue[] = people.flatMap(({ userId, held }) =>
      rules.flatMap((rule) => {
        const both = broken(rule, held)
        return both === null ? [] : [findingOfDuties(rule, userId, both)]
      }),
    )
    const isLast = people.length < PEOPLE
    const upTo = people.at(-1)?.userId ?? after
    // Includes the people between two holders, whose findings must be resolved.
    const which = isLast
      ? sql`(user_id > ${after}::uuid or user_id is null)`
      : sql`user_id > ${after}::uuid and user_id <= ${upTo}::uuid`
    await db.transaction(async (tx) => writeFound(tx, where, await withLabels(tx, found), which))
    if (isLast) break
    after = upTo
  }
  await wakeUnblocked(db, look.id, rules, signal)
  return where
}

/** Replaces the ids of held apps and permissions by their labels. */
async function withLabels(db: Db, found: readonly FoundIssue[]): Promise<FoundIssue[]> {
  // The cast is safe: these two details of a separation finding hold only things.
  const things = (one: FoundIssue, side: 'left' | 'right') =>
    (one.details?.[side] ?? []) as `app ${string}`[]
  const labels = await labelsOf(
    db,
    found.flatMap((one) => [...things(one, 'left'), ...things(one, 'right')]),
  )
  const said = (one: FoundIssue, side: 'left' | 'right') =>
    things(one, side).map((thing) => labels.get(thing) ?? thing)
  return found.map((one) => ({
    ...one,
    details: { ...one.details, left: said(one, 'left'), right: said(one, 'right') },
  }))
}
