/** Checks whether access that is requested or a policy would grant breaks a rule of separation of duties. */
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

/** Requested access, and the person who is to have it. */
type Asked = Wanted & {
  domainId: string
  userId: string
  /** Id of the request if it exists already, so that it does not conflict with itself. */
  requestId: string | null
}

/** Returns the rules in force, oldest first. */
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

/** Returns the rules that a request would break. */
export const conflictsOf = async (db: Db, asked: Asked): Promise<Conflict[]> =>
  one(await conflictsOfAll(db, asked, [asked]))

/** Like `conflictsOf` for several items requested for one person. Results are in the order of the items. */
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

/** Like `conflictsOf` for a request about to be made. A lock serializes the requests for one person. */
export async function conflictsOfNew(tx: Db, asked: Asked): Promise<Conflict[]> {
  if ((await rulesInForce(tx, asked.domainId)).length === 0) return []
  await tx.execute(lockTextUntilEnd(`duties of ${asked.userId}`))
  return conflictsOf(tx, asked)
}

/** Converts conflicts to their wire format. */
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
