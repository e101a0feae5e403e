/** Whether access that is asked for, or that a policy would give, breaks a rule of separation of duties. */
import { and, asc, eq, sql } from 'drizzle-orm'
import type { SeparationConflict } from '../../contract/models/separation.ts'
import { type Db, one } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'
import { prepared } from '../../database/prepared.ts'
import { type SeparationRow, separationRules } from '../../database/schema/findings.ts'
import { holdingsOf, labelsOf, ruleTargets } from './holdings.ts'
import { appThing, brokenBy, permissionThing, type Thing, thingsOf } from './rules.ts'

type Conflict = { rule: SeparationRow; holds: Thing[] }

type Wanted = { appId: string; permissionId: string | null }

/** What is asked for, and the person who is to have it. */
type Asked = Wanted & {
  domainId: string
  userId: string
  /** The request itself, where it is there already: it is not what stands against it. */
  requestId: string | null
}

/** Rules that are in force, oldest first. */
export const rulesInForce = (db: Db, domainId: string): Promise<SeparationRow[]> =>
  inForce(db, { domainId })

const inForce = prepared('separation rules in force', (db) =>
  db
    .select()
    .from(separationRules)
    .where(
      and(
        eq(separationRules.domainId, sql.placeholder('domainId')),
        eq(separationRules.isEnabled, true),
      ),
    )
    .orderBy(asc(separationRules.createdAt), asc(separationRules.id)),
)

/** Rules that would be broken. */
export const conflictsOf = async (db: Db, asked: Asked): Promise<Conflict[]> =>
  one(await conflictsOfAll(db, asked, [asked]))

/** The same of several things that are asked for one person, in their order. */
export async function conflictsOfAll(
  db: Db,
  { domainId, userId, requestId }: Omit<Asked, keyof Wanted>,
  wanted: readonly Wanted[],
): Promise<Conflict[][]> {
  const things = wanted.map(({ appId, permissionId }) => [
    appThing(appId),
    ...(permissionId === null ? [] : [permissionThing(permissionId)]),
  ])
  const all = new Set(things.flat())
  const rules = (await rulesInForce(db, domainId)).filter(({ left, right }) =>
    [...thingsOf(left), ...thingsOf(right)].some((thing) => all.has(thing)),
  )
  if (rules.length === 0) return wanted.map(() => [])
  const held = await holdingsOf(db, { domainId, userId, without: requestId }, ruleTargets(rules))
  return things.map((asked) =>
    rules.flatMap((rule) => {
      const holds = brokenBy(rule, held, asked)
      return holds === null ? [] : [{ rule, holds }]
    }),
  )
}

/** The same for a request that is about to be made: two for one person wait for each other. */
export async function conflictsOfNew(tx: Db, asked: Asked): Promise<Conflict[]> {
  if ((await rulesInForce(tx, asked.domainId)).length === 0) return []
  await tx.execute(lockTextUntilEnd(`duties of ${asked.userId}`))
  return conflictsOf(tx, asked)
}

/** As on the wire. */
export async function toConflicts(
  db: Db,
  conflicts: readonly Conflict[],
): Promise<SeparationConflict[]> {
  const labels = await labelsOf(
    db,
    conflicts.flatMap(({ holds }) => holds),
  )
  return conflicts.map(({ rule, holds }) => ({
    id: rule.id,
    name: rule.name,
    on_request: rule.onRequest,
    holds: holds.flatMap((thing) => labels.get(thing) ?? []),
  }))
}
