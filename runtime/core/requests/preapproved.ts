/** Whether a rule says that nobody needs to be asked. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { preApprovalRules } from '../../database/schema/app_store.ts'
import { groupMembers, users } from '../../database/schema/people.ts'
import { attributeOf } from '../directory/condition.ts'
import { identityOf } from '../directory/condition-subject.ts'
import type { RequestRow } from './machine/request.ts'

type Rule = {
  justification: string
  time_based_access?: AccessLength[]
  preapproved_groups?: string[]
  preapproved_permissions?: string[]
  preapproved_users_by_attribute?: { attribute: string; value: string }[]
  preapproval_webhooks?: string[]
}

/** A rule that fits a request: it holds once each of its webhooks says yes. */
type FittingRule = { justification: string; webhooks: string[] }

/**
 * The rules of the app that fit a request, oldest first: what it asks for, how long, and who for. A rule
 * without groups and attributes is for nobody, unless webhooks decide.
 */
export async function fittingRules(db: Db, request: RequestRow): Promise<FittingRule[]> {
  // People decide on exceptions from rules of separation of duties.
  if (request.plan.exception !== undefined) return []
  const rows = await rulesOf(db, { appId: request.appId })
  const fitting: FittingRule[] = []
  for (const { document } of rows) {
    // The cast: a rule is judged by its schema before it is kept.
    const rule = document as Rule
    if (!coversWhat(rule, request) || !coversLength(rule, request)) continue
    const webhooks = rule.preapproval_webhooks ?? []
    if (await coversWhom(db, rule, request, webhooks.length > 0))
      fitting.push({ justification: rule.justification, webhooks })
  }
  return fitting
}

const rulesOf = prepared('pre-approval rules of app', (db) =>
  db
    .select({ document: preApprovalRules.document })
    .from(preApprovalRules)
    .where(eq(preApprovalRules.appId, sql.placeholder('appId')))
    .orderBy(asc(preApprovalRules.createdAt), asc(preApprovalRules.id)),
)

const coversWhat = ({ preapproved_permissions: ids = [] }: Rule, { permissionId }: RequestRow) =>
  ids.length === 0 || (permissionId !== null && ids.includes(permissionId))

function coversLength(
  { time_based_access: lengths = [] }: Rule,
  { expirationInSeconds: seconds }: RequestRow,
): boolean {
  if (lengths.length === 0 || lengths.includes('Unlimited')) return true
  const longest = Math.max(...lengths.map((one) => ACCESS_LENGTHS[one] ?? 0))
  return seconds !== null && seconds <= longest
}

async function coversWhom(
  db: Db,
  rule: Rule,
  { targetUserId }: RequestRow,
  webhooksDecide: boolean,
): Promise<boolean> {
  const { preapproved_groups: groups = [], preapproved_users_by_attribute: attributes = [] } = rule
  if (groups.length + attributes.length === 0) return webhooksDecide
  const [member] =
    groups.length === 0
      ? []
      : await db
          .select({ groupId: groupMembers.groupId })
          .from(groupMembers)
          .where(and(eq(groupMembers.userId, targetUserId), inArray(groupMembers.groupId, groups)))
          .limit(1)
  if (member) return true
  if (attributes.length === 0) return false
  const [user] = await db.select().from(users).where(eq(users.id, targetUserId))
  if (!user) return false
  const identity = identityOf(user)
  return attributes.some(({ attribute, value }) => {
    const found = attributeOf(attribute, identity)
    return [found].flat().some((one) => one !== undefined && String(one) === value)
  })
}
