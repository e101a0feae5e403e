/** Pre-approval rules, by which a request needs no decision of people. */
import { asc, sql } from 'drizzle-orm'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { preApprovalRules } from '../../database/schema/app_store.ts'
import type { RequestRow } from '../../database/schema/requests.ts'
import { attributeOf, type ConditionSubject } from '../directory/condition.ts'
import { conditionSubject } from '../directory/condition-subject.ts'
import { usersOf } from '../directory/users.ts'
import { groupIdsOf } from '../kernel/identity/app-reach.ts'

type Rule = {
  justification: string
  time_based_access?: AccessLength[]
  preapproved_groups?: string[]
  preapproved_permissions?: string[]
  preapproved_users_by_attribute?: { attribute: string; value: string }[]
  preapproval_webhooks?: string[]
}

/** Rule that fits a request. It applies once all of its webhooks approve. */
type FittingRule = { justification: string; webhooks: string[] }

/**
 * Returns the app's rules that fit a request by item, length and target user, oldest first. A rule without
 * groups and attributes fits no one, unless webhooks decide.
 */
export async function fittingRules(db: Db, request: RequestRow): Promise<FittingRule[]> {
  // People decide on exceptions from rules of separation of duties.
  if (request.plan.exception !== undefined) return []
  const rows = await rulesOf(db, { appIds: [request.appId] })
  const rules = rows
    .map(({ document }) => ruleIn(document))
    .filter(
      (rule) =>
        coversWhat(rule, request.permissionId) && coversLength(rule, request.expirationInSeconds),
    )
  if (rules.length === 0) return []
  const recipient = await recipientOf(db, request.targetUserId)
  return rules
    .filter((rule) => coversRecipient(rule, recipient))
    .map(({ justification, preapproval_webhooks: webhooks = [] }) => ({ justification, webhooks }))
}

type Wanted = { appId: string; permissionId: string | null; lengths: readonly AccessLength[] }

/** Returns the lengths of each item for one person that a rule approves without people or webhooks. */
export async function preapprovedLengths(
  db: Db,
  targetUserId: string,
  wanted: readonly Wanted[],
): Promise<AccessLength[][]> {
  const rows = await rulesOf(db, { appIds: wanted.map(({ appId }) => appId) })
  if (rows.length === 0) return wanted.map(() => [])
  const recipient = await recipientOf(db, targetUserId)
  const rules = rows
    .map(({ appId, document }) => ({ appId, rule: ruleIn(document) }))
    .filter(({ rule }) => !asksWebhooks(rule) && coversRecipient(rule, recipient))
  return wanted.map(({ appId, permissionId, lengths }) => {
    const own = rules.filter((one) => one.appId === appId && coversWhat(one.rule, permissionId))
    return lengths.filter((length) =>
      own.some(({ rule }) => coversLength(rule, ACCESS_LENGTHS[length])),
    )
  })
}

// The cast is safe: a rule is validated by its schema before it is stored.
const ruleIn = (document: object): Rule => document as Rule

const rulesOf = prepared('pre-approval rules of apps', (db) =>
  db
    .select({ appId: preApprovalRules.appId, document: preApprovalRules.document })
    .from(preApprovalRules)
    .where(sql`${preApprovalRules.appId} = any(${sql.placeholder('appIds')}::uuid[])`)
    .orderBy(asc(preApprovalRules.createdAt), asc(preApprovalRules.id)),
)

const asksWebhooks = ({ preapproval_webhooks: webhooks = [] }: Rule): boolean => webhooks.length > 0

const coversWhat = (
  { preapproved_permissions: ids = [] }: Rule,
  permissionId: string | null,
): boolean => ids.length === 0 || (permissionId !== null && ids.includes(permissionId))

function coversLength({ time_based_access: lengths = [] }: Rule, seconds: number | null): boolean {
  if (lengths.length === 0 || lengths.includes('Unlimited')) return true
  const longest = Math.max(...lengths.map((one) => ACCESS_LENGTHS[one] ?? 0))
  return seconds !== null && seconds <= longest
}

/** Facts about the target user that rules use. */
type Recipient = { groups: ReadonlySet<string>; identity: ConditionSubject | null }

async function recipientOf(db: Db, userId: string): Promise<Recipient> {
  const groups = await groupIdsOf(db, userId)
  const [user] = await usersOf(db, [userId])
  return { groups, identity: user === undefined ? null : conditionSubject(user) }
}

function coversRecipient(rule: Rule, { groups: own, identity }: Recipient): boolean {
  const { preapproved_groups: groups = [], preapproved_users_by_attribute: attributes = [] } = rule
  if (groups.length + attributes.length === 0) return asksWebhooks(rule)
  if (groups.some((id) => own.has(id))) return true
  return attributes.some(({ attribute, value }) => {
    const found = identity === null ? [] : [attributeOf(attribute, identity)].flat()
    return found.some((one) => one !== undefined && String(one) === value)
  })
}
