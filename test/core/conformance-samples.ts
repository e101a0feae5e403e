/** Samples that the endpoint table cannot provide: existing objects for paths, and valid bodies. */
import { randomUUID } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { EndpointName } from '../../runtime/contract/endpoints/table.ts'
import { FIRST_ADMIN } from '../../runtime/core/sign-in/first-admin.ts'
import type { Db } from '../../runtime/database/database.ts'
import {
  appStoreSettings,
  breakGlass,
  preApprovalRules,
  requestablePermissions,
} from '../../runtime/database/schema/app_store.ts'
import { delegations } from '../../runtime/database/schema/delegations.ts'
import { licencePrices } from '../../runtime/database/schema/expenses.ts'
import {
  findingSchedules,
  findings,
  separationRules,
} from '../../runtime/database/schema/findings.ts'
import { userOffboardings } from '../../runtime/database/schema/offboarding.ts'
import { groupMembers, groups, users } from '../../runtime/database/schema/people.ts'
import { accessPolicies } from '../../runtime/database/schema/policies.ts'
import { accessRequests } from '../../runtime/database/schema/requests.ts'
import {
  accessReviewApps,
  accessReviewAssignments,
  accessReviewItems,
  accessReviews,
} from '../../runtime/database/schema/reviews.ts'
import { scimTokens } from '../../runtime/database/schema/scim.ts'
import { entitlements } from '../../runtime/database/schema/sync.ts'
import { tasks } from '../../runtime/database/schema/tasks.ts'
import { uploads } from '../../runtime/database/schema/uploads.ts'
import { app, group, person, task } from './host.ts'

export type World = { db: Db; domainId: string; otherDomainId: string }

type Builder = {
  /** Creates an object that the admin has full access to. */
  own(world: World): Promise<string>
  /** Creates one in another domain; null if the parameter is not an id. */
  foreign: ((world: World) => Promise<string>) | null
}

/** Marks an app as connected in its record only; the sealed connection cannot be opened. */
const connected = () => ({
  appClassId: 'scim',
  connectorId: 'scim',
  instanceId: email(),
  sealedConnection: Buffer.from('none'),
})

async function appInStore(db: Db, domainId: string, more: object = {}): Promise<string> {
  const appId = await app(db, `App ${email()}`, { domainId, ...more })
  await db.insert(appStoreSettings).values({ appId, domainId, inAppStore: true })
  return appId
}

async function permission(db: Db, domainId: string): Promise<string> {
  const appId = await appInStore(db, domainId)
  const values = { domainId, appId, label: 'Sample' }
  const [row] = await db.insert(requestablePermissions).values(values).returning()
  return row?.id ?? ''
}

async function rule(db: Db, domainId: string): Promise<string> {
  const appId = await appInStore(db, domainId)
  const document = { justification: 'Sample', time_based_access: [] } as never
  const values = { domainId, appId, document }
  const [row] = await db.insert(preApprovalRules).values(values).returning()
  return row?.id ?? ''
}

async function policy(db: Db, domainId: string): Promise<string> {
  const appId = await appInStore(db, domainId)
  const values = {
    domainId,
    name: 'Sample',
    businessJustification: 'Sample',
    status: 'DRAFT' as const,
    isEnabled: false,
    isEveryone: true,
    apps: [{ id: appId, is_preapproved: false, permissions: [] }],
  }
  const [row] = await db.insert(accessPolicies).values(values).returning()
  return row?.id ?? ''
}

/** An upload by a person; two endpoints take one, each of its own kind. */
async function upload(db: Db, kind: 'accounts' | 'activity', domainId: string): Promise<string> {
  const { id: userId } = await person(db, email(), [], domainId)
  const values = { kind, domainId, userId, state: 'SUCCESS' as const, finishedAt: new Date() }
  const [row] = await db.insert(uploads).values(values).returning()
  return row?.id ?? ''
}

const policyBody = async ({ db, domainId }: World) => ({
  name: 'Sample',
  business_justification: 'Sample',
  apps: [{ id: await appInStore(db, domainId) }],
  access_condition: { attribute: 'identity.email', exists: true },
})

async function request(
  db: Db,
  domainId: string,
  more: Partial<typeof accessRequests.$inferInsert> = {},
): Promise<string> {
  const appId = await appInStore(db, domainId)
  const { id: targetUserId } = await person(db, email(), [], domainId)
  const plan = { manager: false, stages: [], message: null, validationWebhook: null }
  const values = { domainId, appId, carriedAppId: appId, targetUserId, plan }
  const [row] = await db
    .insert(accessRequests)
    .values({ ...values, status: 'PENDING_APPROVAL', ...more })
    .returning()
  return row?.id ?? ''
}

/** A completed request that granted the admin access. */
async function ownGrant({ db, domainId }: World): Promise<string> {
  const [admin] = await db.select().from(users).where(eq(users.email, FIRST_ADMIN))
  const held = { status: 'COMPLETED', how: 'manual' } as const
  return request(db, domainId, { ...held, ...(admin ? { targetUserId: admin.id } : {}) })
}

/** A request of the admin that others were asked to decide on long ago. */
async function waitingRequest({ db, domainId }: World): Promise<string> {
  const [admin] = await db.select().from(users).where(eq(users.email, FIRST_ADMIN))
  const accessRequestId = await request(db, domainId, { requesterId: admin?.id ?? null })
  const taskId = await task(db, { userIds: [(await person(db, email())).id] })
  const createdAt = new Date('2020-01-01')
  await db.update(tasks).set({ accessRequestId, createdAt }).where(eq(tasks.id, taskId))
  return accessRequestId
}

async function offboarding(db: Db, domainId: string): Promise<string> {
  const { id: userId } = await person(db, email(), [], domainId)
  // Far in the future, so that it does not start.
  const scheduledAt = new Date('2999-01-01T00:00:00Z')
  const values = { domainId, userId, scheduledAt, wakeAt: scheduledAt }
  const [row] = await db
    .insert(userOffboardings)
    .values({ ...values, status: 'SCHEDULED' })
    .returning()
  return row?.id ?? ''
}

/**
 * A review with two apps and an item in the first. `latest` keeps the ids of the second app and of the item,
 * because paths name them after their review.
 */
async function review({ db }: World, domainId: string): Promise<string> {
  const values = { domainId, name: `Review ${email()}`, deadlineAt: new Date('2999-01-01') }
  const [row] = await db
    .insert(accessReviews)
    .values({ ...values, status: 'IN_PROGRESS' })
    .returning()
  const reviewId = row?.id ?? ''
  const appId = await appInStore(db, domainId)
  const another = await appInStore(db, domainId)
  const inReview = {
    domainId,
    reviewId,
    reviewType: 'ENTITLEMENTS',
    status: 'IN_PROGRESS',
  } as const
  const [reviewApp, empty] = await db
    .insert(accessReviewApps)
    .values([
      { ...inReview, appId },
      { ...inReview, appId: another },
    ])
    .returning()
  const reviewAppId = reviewApp?.id ?? ''
  const account = { accountId: reviewAppId, account: 'u1', accountType: 'USER' }
  const [item] = await db
    .insert(accessReviewItems)
    .values({
      domainId,
      reviewId,
      reviewAppId: reviewAppId,
      appId,
      assignmentId: await ofAdmin(db, reviewAppId),
      ...account,
    })
    .returning()
  latest = { reviewAppId: empty?.id ?? '', item: item?.id ?? '' }
  return reviewId
}
/** Assigns the review of an app to the first admin. */
async function ofAdmin(db: Db, reviewAppId: string): Promise<string> {
  const [admin] = await db.select().from(users).where(eq(users.email, FIRST_ADMIN))
  const values = { reviewAppId: reviewAppId, userIds: [admin?.id ?? ''], why: 'sample' }
  const [row] = await db
    .insert(accessReviewAssignments)
    .values({ ...values, domainId: admin?.domainId ?? '' })
    .returning()
  return row?.id ?? ''
}
let latest = { reviewAppId: '', item: '' }

/** A finding in an app whose next check is far in the future; a check would resolve the finding. */
export async function finding(
  db: Db,
  domainId: string,
  more: Partial<typeof findings.$inferInsert> = {},
): Promise<string> {
  const appId = randomUUID()
  const far = new Date('2999-01-01')
  await db.insert(findingSchedules).values({ subject: appId, domainId, wakeAt: far })
  await app(db, `App ${email()}`, { id: appId, domainId })
  const values = {
    domainId,
    appId,
    kind: 'SYNC_STALE',
    severity: 'MEDIUM',
    subject: appId,
  } as const
  const [row] = await db
    .insert(findings)
    .values({ ...values, ...more })
    .returning()
  return row?.id ?? ''
}

const acceptedFinding = ({ db, domainId }: World): Promise<string> =>
  finding(db, domainId, { state: 'ACCEPTED', acceptedUntil: new Date('2999-01-01') })

export async function scimToken(db: Db, domainId: string): Promise<string> {
  const values = { domainId, name: 'Sample', prefix: 'lss_sampleto', hash: Buffer.from('none') }
  const [row] = await db.insert(scimTokens).values(values).returning()
  return row?.id ?? ''
}

export async function delegation(db: Db, domainId: string): Promise<string> {
  const [user, delegate] = [
    await person(db, email(), [], domainId),
    await person(db, email(), [], domainId),
  ]
  const [row] = await db
    .insert(delegations)
    .values({
      ...{ domainId, userId: user.id, delegateId: delegate.id },
      ...{ since: new Date('2020-01-01'), until: new Date('2999-01-01') },
    })
    .returning()
  return row?.id ?? ''
}

/** A break-glass permission of a group of the first admin. */
export async function glass(db: Db, domainId: string): Promise<string> {
  const id = await permission(db, domainId)
  const [row] = await db
    .select({ appId: requestablePermissions.appId })
    .from(requestablePermissions)
    .where(eq(requestablePermissions.id, id))
  const [admin] = await db.select().from(users).where(eq(users.email, FIRST_ADMIN))
  const groupId = await group(db, `Group ${email()}`, [])
  if (admin)
    await db.insert(groupMembers).values({ domainId: admin.domainId, groupId, userId: admin.id })
  const groupIds = [groupId]
  await db
    .insert(breakGlass)
    .values({ id, domainId, appId: row?.appId ?? '', groupIds, maxMinutes: 60 })
  return id
}

/** A licence that has a price. */
export async function licence(db: Db, domainId: string): Promise<string> {
  const appId = await appInStore(db, domainId)
  const [row] = await db
    .insert(entitlements)
    .values({
      ...{ domainId, appId, entitlementType: 'LICENCE', resourceId: '', externalId: 'seat' },
      ...{ label: 'Seat', isAssignable: true, seenRun: 1 },
    })
    .returning()
  const entitlementId = row?.id ?? 0
  const price = { amount: '12.5', currency: 'EUR', period: 'MONTH' } as const
  await db.insert(licencePrices).values({ entitlementId, domainId, appId, ...price })
  return String(entitlementId)
}

async function separationRule(db: Db, domainId: string): Promise<string> {
  const side = { apps: [], permissions: [] }
  const [row] = await db
    .insert(separationRules)
    .values({ domainId, name: 'Sample', left: side, right: side })
    .returning()
  return row?.id ?? ''
}

const separationBody = async ({ db, domainId }: World) => ({
  name: 'Sample',
  left: { apps: [await appInStore(db, domainId)] },
  right: { apps: [await appInStore(db, domainId)] },
})

let made = 0
const email = () => {
  made += 1
  return `sample${made}@example.com`
}

/** Builders by path parameter. */
export const BUILDERS: Record<string, Builder> = {
  user_id: {
    own: async ({ db }) => (await person(db, email(), ['Auditor'])).id,
    foreign: async ({ db, otherDomainId }) => (await person(db, email(), [], otherDomainId)).id,
  },
  group_id: {
    own: async ({ db }) => group(db, 'Sample', [await person(db, email())]),
    foreign: async ({ db, otherDomainId }) => {
      const values = { domainId: otherDomainId, name: 'Theirs' }
      const [row] = await db.insert(groups).values(values).returning()
      return row?.id ?? ''
    },
  },
  task_id: {
    own: async ({ db }) => task(db, { userIds: [(await person(db, email())).id] }),
    foreign: ({ db, otherDomainId }) => task(db, { domain: otherDomainId }),
  },
  app_id: {
    own: ({ db, domainId }) => appInStore(db, domainId, connected()),
    foreign: ({ db, otherDomainId }) => appInStore(db, otherDomainId),
  },
  permission_id: {
    own: ({ db, domainId }) => permission(db, domainId),
    foreign: ({ db, otherDomainId }) => permission(db, otherDomainId),
  },
  pre_approval_rule_id: {
    own: ({ db, domainId }) => rule(db, domainId),
    foreign: ({ db, otherDomainId }) => rule(db, otherDomainId),
  },
  access_policy_id: {
    own: ({ db, domainId }) => policy(db, domainId),
    foreign: ({ db, otherDomainId }) => policy(db, otherDomainId),
  },
  access_request_id: {
    own: ({ db, domainId }) => request(db, domainId),
    foreign: ({ db, otherDomainId }) => request(db, otherDomainId),
  },
  job_id: {
    own: ({ db, domainId }) => upload(db, 'accounts', domainId),
    foreign: ({ db, otherDomainId }) => upload(db, 'accounts', otherDomainId),
  },
  activity_job_id: {
    own: ({ db, domainId }) => upload(db, 'activity', domainId),
    foreign: ({ db, otherDomainId }) => upload(db, 'activity', otherDomainId),
  },
  user_offboarding_id: {
    own: ({ db, domainId }) => offboarding(db, domainId),
    foreign: ({ db, otherDomainId }) => offboarding(db, otherDomainId),
  },
  access_review_id: {
    own: (world) => review(world, world.domainId),
    foreign: (world) => review(world, world.otherDomainId),
  },
  arda_id: {
    own: async () => latest.reviewAppId,
    foreign: async (world) => {
      const own = latest
      await review(world, world.otherDomainId)
      const { reviewAppId } = latest
      latest = own
      return reviewAppId
    },
  },
  item_id: {
    own: async () => latest.item,
    foreign: async (world) => {
      const own = latest
      await review(world, world.otherDomainId)
      const { item } = latest
      latest = own
      return item
    },
  },
  finding_id: {
    own: ({ db, domainId }) => finding(db, domainId),
    foreign: ({ db, otherDomainId }) => finding(db, otherDomainId),
  },
  delegation_id: {
    own: ({ db, domainId }) => delegation(db, domainId),
    foreign: ({ db, otherDomainId }) => delegation(db, otherDomainId),
  },
  scim_token_id: {
    own: ({ db, domainId }) => scimToken(db, domainId),
    foreign: ({ db, otherDomainId }) => scimToken(db, otherDomainId),
  },
  separation_rule_id: {
    own: ({ db, domainId }) => separationRule(db, domainId),
    foreign: ({ db, otherDomainId }) => separationRule(db, otherDomainId),
  },
  break_glass_id: {
    own: ({ db, domainId }) => glass(db, domainId),
    foreign: ({ db, otherDomainId }) => glass(db, otherDomainId),
  },
  licence_id: {
    own: ({ db, domainId }) => licence(db, domainId),
    foreign: ({ db, otherDomainId }) => licence(db, otherDomainId),
  },
  app_class_id: { own: async () => 'scim', foreign: null },
  role_name: { own: async () => 'Auditor', foreign: null },
}

/** Valid bodies by endpoint. */
export const BODIES: Partial<Record<EndpointName, (world: World) => Promise<object>>> = {
  create_scim_token: async () => ({ name: 'Sample' }),
  perform_task_action: async () => ({ action_type: 'approve', transition_to: 'COMPLETED' }),
  reassign_task: async ({ db }) => ({ user_ids: [(await person(db, email())).id] }),
  comment_on_task: async () => ({ comment: 'Said.' }),
  create_app: async () => ({
    name: `Sample ${email()}`,
    category: 'Other',
    description: 'A sample',
  }),
  update_app: async () => ({ description: 'Another' }),
  put_app: async () => ({ description: 'Another' }),
  add_appstore_app: async ({ db }) => ({ app_id: await app(db, `App ${email()}`) }),
  update_appstore_app_settings: async () => ({ custom_request_instructions: 'Ask nicely.' }),
  update_app_settings: async () => ({ custom_request_instructions: 'Ask nicely.' }),
  sync_app: async () => ({ sync_type: 'full_sync' }),
  create_permission: async ({ db, domainId }) => ({
    app_id: await appInStore(db, domainId),
    label: 'Sample',
  }),
  update_permission: async () => ({ label: 'Another' }),
  update_personal_settings: async () => ({ mail: 'DIGEST', language: 'de' }),
  create_pre_approval_rule: async ({ db, domainId }) => ({
    app_id: await appInStore(db, domainId),
    justification: 'Sample',
  }),
  update_pre_approval_rule: async () => ({ justification: 'Another' }),
  create_access_request: async ({ db, domainId }) => ({ app_id: await appInStore(db, domainId) }),
  create_access_policy: policyBody,
  put_access_policy: policyBody,
  upload_accounts: async ({ db, domainId }) => ({
    app_id: await appInStore(db, domainId),
    accounts: [{ unique_identifier: 'u1' }],
  }),
  upload_activity_records: async ({ db, domainId }) => ({
    records: [
      {
        account: { external_id: 'u1' },
        event: { type: 'LOGIN' },
        timestamp: '2026-01-01T00:00:00Z',
        source_app_id: await appInStore(db, domainId),
      },
    ],
  }),
  create_access_review: async () => ({ name: `Review ${email()}`, deadline_at: '2999-01-01' }),
  add_access_review_apps: async ({ db }) => ({ apps: [{ id: await app(db, `App ${email()}`) }] }),
  preview_access_review_scope: async ({ db }) => ({ id: await app(db, `App ${email()}`) }),
  update_access_review: async () => ({ name: `Review ${email()}` }),
  put_access_review_settings: async () => ({ reviewers: 'APP_ADMINS' }),
  decide_access_review_items: async () => ({ decision: 'KEEP', filter: {} }),
  reassign_access_review_item: async ({ db }) => ({
    user_ids: [(await person(db, email())).id],
    reason: 'Sample',
  }),
  upload_access_review_evidence: async () => ({
    item_ids: [latest.item],
    name: 'sample.txt',
    content: 'c2FtcGxl',
  }),
  create_delegation: async ({ db }) => ({
    delegate_id: (await person(db, email())).id,
    user_id: (await person(db, email())).id,
    until: new Date(Date.now() + 86_400_000),
  }),
  accept_finding: async () => ({ reason: 'Sample', until: new Date(Date.now() + 86_400_000) }),
  put_break_glass: async ({ db }) => ({
    group_ids: [await group(db, `Group ${email()}`, [])],
    max_minutes: 30,
  }),
  take_break_glass: async () => ({ reason: 'Sample' }),
  revoke_access: async () => ({ reason: 'Sample' }),
  remind_approvers: async () => ({ comment: 'Sample' }),
  put_licence_price: async () => ({ amount: '20', currency: 'USD', period: 'YEAR' }),
  create_separation_rule: separationBody,
  put_separation_rule: separationBody,
  create_user_offboarding: async ({ db }) => ({
    user_id: (await person(db, email())).id,
    scheduled_at: '2999-01-01T00:00:00Z',
  }),
}

/** Builders by endpoint path, for endpoints that would refuse the usual object. */
const SPECIAL: Record<string, Builder['own']> = {
  '/appstore/access_requests/:access_request_id/give_back': ownGrant,
  '/appstore/access_requests/:access_request_id/revoke': ownGrant,
  '/appstore/access_requests/:access_request_id/remind': waitingRequest,
  '/findings/:finding_id/reopen': acceptedFinding,
}

export function builderOf(name: string, path = ''): Builder {
  const usual = BUILDERS[name]
  const own = SPECIAL[path]
  const builder = usual && own ? { ...usual, own } : usual
  if (!builder) throw new Error(`add a builder of {${name}} to BUILDERS in conformance-samples.ts`)
  return builder
}

export async function bodyOf(name: EndpointName, world: World): Promise<object> {
  const make = BODIES[name]
  if (!make) throw new Error(`add a valid body of ${name} to BODIES in conformance-samples.ts`)
  return make(world)
}
