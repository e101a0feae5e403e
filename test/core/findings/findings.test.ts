/**
 * Findings checked against a generated organisation, their acceptance, and the effect of rules of separation
 * of duties on requests and policies. `SEED=7` for another organisation.
 */
import { randomUUID } from 'node:crypto'
import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FINDING_EVENTS } from '../../../runtime/contract/models/finding.ts'
import { lookAt } from '../../../runtime/core/findings/look.ts'
import { wakeUnblocked } from '../../../runtime/core/separation/blocked.ts'
import { requestablePermissions } from '../../../runtime/database/schema/app_store.ts'
import { accounts, apps } from '../../../runtime/database/schema/apps.ts'
import { findingSchedules, findings } from '../../../runtime/database/schema/findings.ts'
import { accountSpans, associationSpans } from '../../../runtime/database/schema/history.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { policyWants } from '../../../runtime/database/schema/policies.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { entitlements } from '../../../runtime/database/schema/sync.ts'
import { until } from '../../e2e/until.ts'
import {
  app,
  type CoreHost,
  domainOf,
  otherDomain,
  type Person,
  person,
  startCore,
} from '../host.ts'
import { storedLog } from '../log.ts'
import { type Company, company } from '../requests/company.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const FAR = new Date('2999-01-01')
const DAY_MS = 86_400_000

let core: CoreHost
let acme: Company
let domainId: string
let ada: Person
let mia: Person
/** The time that checks use as now. */
let now: Date

beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  domainId = await domainOf(core.db)
  ada = await person(core.db, 'ada@acme.example')
  mia = await person(core.db, 'mia@acme.example')
  now = new Date()
})
afterAll(() => core.stop())

/** Numbers from 0 to 1, reproducible by the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const connectors = {
  ids: () => [],
  find: () => null,
  call: () => Promise.reject(new Error('none')),
}
const look = (kind: 'app' | 'domain', id: string, at = now) =>
  lookAt(
    core.db,
    { kind, id },
    { connectors, now: async () => at, signal: new AbortController().signal },
  )

/** An app that the host does not check by itself; the tests do. */
async function unscheduledApp(name: string): Promise<string> {
  const id = randomUUID()
  await core.db.insert(findingSchedules).values({ subject: id, domainId, wakeAt: FAR })
  return app(core.db, name, { id })
}

/** Postpones all checks by the host. */
const unschedule = () => core.db.update(findingSchedules).set({ wakeAt: FAR })

const openOf = async (appId: string) =>
  (
    await core.db
      .select()
      .from(findings)
      .where(and(eq(findings.appId, appId), isNull(findings.resolvedAt)))
  )
    .map(({ kind, subject }) => `${kind} ${subject}`)
    .sort()

/** The log entries about findings of an app, each with its number of findings. */
const eventsOf = async (appId: string) =>
  (await storedLog(core.db))
    .filter(
      ({ eventType, metadata }) => /^FINDINGS?_/.test(eventType) && metadata['app_id'] === appId,
    )
    .map(({ eventType, targets, metadata }) => ({
      event: eventType,
      kind: String(metadata['kind'] ?? targets[0]?.['name']),
      count: Number(metadata['count'] ?? 1),
    }))

describe('findings of a generated organisation', () => {
  const PEOPLE = 60
  const ACCOUNTS = 700
  const random = randomFrom(SEED)
  const chance = (share: number) => random() < share
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T

  type Held = { entitlement: number; days: number }
  type Model = {
    id: string
    type: 'USER' | 'SERVICE'
    status: 'ACTIVE' | 'SUSPENDED' | null
    userId: string | null
    usedDays: number | null
    days: number
    held: Held[]
  }
  let appId: string
  let people: { id: string; status: 'ACTIVE' | 'SUSPENDED' }[]
  let kinds: { id: number; label: string; type: string; inStore: boolean }[]
  let models: Model[]

  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS)

  async function generate(): Promise<void> {
    appId = await unscheduledApp('Generated')
    await acme.inStore(appId)
    await unschedule()
    people = Array.from({ length: PEOPLE }, () => ({
      id: randomUUID(),
      status: chance(0.2) ? 'SUSPENDED' : 'ACTIVE',
    }))
    await core.db
      .insert(users)
      .values(
        people.map(({ id, status }) => ({ id, domainId, status, email: `${id}@acme.example` })),
      )
    const labels = ['Readers', 'Admins', 'Seat', 'Owners', 'Writers']
    const rows = await core.db
      .insert(entitlements)
      .values(
        labels.map((label, index) => ({
          ...{ domainId, appId, label, entitlementType: label === 'Seat' ? 'LICENSE' : 'GROUP' },
          ...{ resourceId: '', externalId: `e${index}`, isAssignable: true, seenRun: 1 },
        })),
      )
      .returning()
    kinds = rows.map(({ id, label, entitlementType, externalId }) => ({
      ...{ id, label, type: entitlementType },
      inStore: externalId < 'e3',
    }))
    await core.db.insert(requestablePermissions).values(
      rows
        .filter(({ externalId }) => externalId < 'e3')
        .map(({ label, externalId, entitlementType }) => ({
          ...{ domainId, appId, label, type: 'SYNCED' as const, visibility: 'VISIBLE' as const },
          ...{ entitlementType, entitlementId: externalId, resourceType: '', resourceId: '' },
        })),
    )
    // The first two accounts are as old as the history of the app, so later access counts as new.
    models = Array.from({ length: ACCOUNTS }, (_, index) => ({
      ...modelOf(),
      days: index < 2 ? 400 : 300,
    }))
    await core.db.insert(accounts).values(
      models.map((model) => ({
        ...{ id: model.id, domainId, appId, uniqueIdentifier: model.id, accountType: model.type },
        ...{ status: model.status, userId: model.userId },
        lastLogin: model.usedDays === null ? null : ago(model.usedDays),
      })),
    )
    await core.db.insert(accountSpans).values(models.map(spanOf))
    await core.db.insert(associationSpans).values(
      models.flatMap(({ id, held }) =>
        held.map(({ entitlement, days }) => ({
          ...{ domainId, appId, accountId: id, entitlementId: entitlement, since: ago(days) },
        })),
      ),
    )
  }

  const modelOf = (): Model => ({
    id: randomUUID(),
    type: chance(0.1) ? 'SERVICE' : 'USER',
    status: chance(0.15) ? 'SUSPENDED' : chance(0.1) ? null : 'ACTIVE',
    userId: chance(0.15) ? null : one(people).id,
    usedDays: chance(0.2) ? null : Math.floor(random() * 180),
    days: 300,
    held: kinds
      .filter(() => chance(0.3))
      .map(({ id }) => ({ entitlement: id, days: one([400, 300, 50]) })),
  })
  const spanOf = (model: Model) => ({
    ...{ domainId, appId, accountId: model.id, uniqueIdentifier: model.id },
    ...{
      accountType: model.type,
      status: model.status,
      userId: model.userId,
      since: ago(model.days),
    },
  })

  /** The expected findings, computed without rules, queries and batches. */
  function truth(): string[] {
    const found: string[] = []
    for (const { id, type, status, userId, usedDays, days, held } of models) {
      if (status === 'SUSPENDED') continue
      if (userId === null)
        found.push(`${type === 'USER' ? 'ORPHAN_ACCOUNT' : 'SERVICE_ACCOUNT_WITHOUT_OWNER'} ${id}`)
      else if (people.find((who) => who.id === userId)?.status === 'SUSPENDED')
        found.push(`LEAVER_ACCOUNT ${id}`)
      const unused = (usedDays ?? days) > 90
      for (const { entitlement, days: since } of held) {
        const { label, type: kind, inStore } = kinds.find((each) => each.id === entitlement) ?? {}
        if (unused && kind === 'LICENSE') found.push(`UNUSED_LICENCE ${id} ${entitlement}`)
        if (unused && (label === 'Admins' || label === 'Owners'))
          found.push(`DORMANT_PRIVILEGE ${id} ${entitlement}`)
        if (userId !== null && inStore && since < 400)
          found.push(`UNEXPLAINED_ENTITLEMENT ${id} ${entitlement}`)
      }
    }
    return found.sort()
  }

  beforeAll(generate)

  test('match the generated problems, and all of them are in the log', async () => {
    await look('app', appId)
    const open = await openOf(appId)
    expect(open.length).toBeGreaterThan(100)
    expect(open).toEqual(truth())
    // The log has them one by one, or as a number for each kind if there are many.
    const logged = Map.groupBy(await eventsOf(appId), ({ kind }) => kind)
    const kinds = Map.groupBy(open, (one) => one.split(' ')[0] ?? '')
    expect(
      [...logged].map(([kind, all]) => [kind, all.reduce((n, { count }) => n + count, 0)]).sort(),
    ).toEqual([...kinds].map(([kind, all]) => [kind, all.length]).sort())
    expect((await eventsOf(appId)).some(({ event }) => event === 'FINDINGS_OPENED')).toBe(true)
    expect((await eventsOf(appId)).every(({ event }) => event in FINDING_EVENTS)).toBe(true)
  })

  test('are neither changed nor logged by another check', async () => {
    const all = () =>
      core.db.select().from(findings).where(eq(findings.appId, appId)).orderBy(findings.id)
    const before = [await all(), await eventsOf(appId)]
    await look('app', appId)
    expect([await all(), await eventsOf(appId)]).toEqual(before)
  })

  test('are resolved when they no longer apply, and opened when they are new', async () => {
    for (const who of people.slice(0, 20)) {
      who.status = who.status === 'ACTIVE' ? 'SUSPENDED' : 'ACTIVE'
      await core.db.update(users).set({ status: who.status }).where(eq(users.id, who.id))
    }
    // Keeps the two oldest accounts, because they define what counts as new.
    const gone = models.splice(2, 100).map(({ id }) => id)
    await core.db
      .update(accountSpans)
      .set({ until: now })
      .where(inArray(accountSpans.accountId, gone))
    await look('app', appId)
    expect(await openOf(appId)).toEqual(truth())
    const resolved = await core.db
      .select()
      .from(findings)
      .where(and(eq(findings.appId, appId), eq(findings.state, 'RESOLVED')))
    expect(resolved.length).toBeGreaterThan(50)
    expect(resolved.every(({ resolvedAt }) => resolvedAt !== null)).toBe(true)
    const logged = (await eventsOf(appId)).filter(({ event }) => event.endsWith('RESOLVED'))
    expect(logged.reduce((n, { count }) => n + count, 0)).toBe(resolved.length)
  })

  test('are listed by filter, each with its next step', async () => {
    const { body } = await core.call(
      'GET',
      `/findings?app_id=${appId}&kind=ORPHAN_ACCOUNT&state=OPEN&size=2`,
    )
    expect(body.total).toBe(truth().filter((each) => each.startsWith('ORPHAN_ACCOUNT')).length)
    expect(body.items).toHaveLength(2)
    expect(body.items[0]).toMatchObject({
      ...{ kind: 'ORPHAN_ACCOUNT', severity: 'MEDIUM', app_name: 'Generated', user_id: null },
      next_step: expect.stringContaining('match rule'),
    })
  })

  test('have the price of an unused seat, and the licence has the cost of all unused seats', async () => {
    const licence = kinds.find(({ type }) => type === 'LICENSE')?.id ?? 0
    const read = async () =>
      (await core.call('GET', `/licences?app_id=${appId}`)).body.items as Record<string, unknown>[]
    const holders = models.filter(
      ({ status, held }) =>
        status !== 'SUSPENDED' && held.some(({ entitlement }) => entitlement === licence),
    )
    // On the last day the hour decides: the list uses the clock of the database, the check that of beforeAll.
    const usedWithin = (most: number) =>
      holders.filter(({ usedDays, days }) => (usedDays ?? days) <= most)
    const used = usedWithin(89)
    const counts = { seats_held: holders.length, seats_used: used.length }
    expect(await read()).toMatchObject([{ id: String(licence), ...counts, price: null }])

    const path = `/licences/${licence}/price`
    const price = { amount: '12.5', currency: 'EUR', period: 'MONTH' }
    for (const wrong of [{ amount: '-1' }, { amount: '1e3' }, { currency: 'euro' }])
      expect((await core.call('PUT', path, { body: { ...price, ...wrong } })).status).toBe(422)
    const { body } = await core.call('PUT', path, { body: price })
    expect(body).toMatchObject({
      ...{ ...counts, price: { ...price, amount: '12.50' } },
      idle_amount: ((holders.length - used.length) * 12.5).toFixed(2),
    })
    const found = await core.call('GET', `/findings?app_id=${appId}&kind=UNUSED_LICENCE&state=OPEN`)
    expect(found.body.total).toBe(holders.length - usedWithin(90).length)
    expect(found.body.items[0].details).toMatchObject({ ...price, amount: '12.50' })

    expect((await core.call('DELETE', path)).status).toBe(204)
    expect((await core.call('DELETE', path)).status).toBe(404)
    expect(await read()).toMatchObject([{ price: null, idle_amount: null }])
  })

  test('can be read by admins of the app and by people with the right, and by no one else', async () => {
    const owner = await person(core.db, 'owner@acme.example', ['App Admin'])
    const auditor = await person(core.db, 'auditor@acme.example', ['Auditor'])
    const listed = async (token: string) =>
      (await core.call('GET', '/findings', { token })).body.total
    expect(await listed(owner.token)).toBe(0)
    await core.db
      .update(apps)
      .set({ adminUserIds: [owner.id] })
      .where(eq(apps.id, appId))
    expect(await listed(owner.token)).toBe(await listed(auditor.token))
    expect((await core.call('GET', '/findings', { token: ada.token })).status).toBe(403)
  })
})

describe('an accepted finding', () => {
  let appId: string
  let id: string
  const accept = (body: object) => core.call('POST', `/findings/${id}/accept`, { body })
  const read = async () => (await core.call('GET', `/findings/${id}`)).body

  beforeAll(async () => {
    appId = await unscheduledApp('Accepted')
    const accountId = randomUUID()
    const identity = { domainId, appId, uniqueIdentifier: 'bot', accountType: 'SERVICE' as const }
    await core.db.insert(accounts).values({ ...identity, id: accountId })
    await core.db.insert(accountSpans).values({ ...identity, accountId, since: now })
    await look('app', appId)
    id = (await core.call('GET', `/findings?app_id=${appId}`)).body.items[0].id
  })

  test('needs a reason and an end within a year', async () => {
    const soon = new Date(now.getTime() + DAY_MS).toISOString()
    for (const body of [
      { reason: ' ', until: soon },
      { reason: 'Known', until: '2020-01-01' },
      { reason: 'Known', until: '2999-01-01' },
      { reason: 'Known', until: 'soon' },
    ])
      expect((await accept(body)).status, JSON.stringify(body)).toBe(422)
    expect((await accept({ reason: 'Known', until: soon })).body).toMatchObject({
      ...{ state: 'ACCEPTED', reason: 'Known', accepted_until: soon },
    })
  })

  test('stays accepted when it is found again, and reopens when the acceptance ends', async () => {
    await look('app', appId)
    expect((await read()).state).toBe('ACCEPTED')
    await look('app', appId, new Date(now.getTime() + 2 * DAY_MS))
    expect(await read()).toMatchObject({ state: 'OPEN', accepted_until: null, reason: 'Known' })
  })

  test('reopens when its acceptance is withdrawn', async () => {
    await accept({ reason: 'Still', until: new Date(now.getTime() + DAY_MS).toISOString() })
    expect((await core.call('POST', `/findings/${id}/reopen`)).body.state).toBe('OPEN')
    expect((await core.call('POST', `/findings/${id}/reopen`)).status).toBe(409)
  })

  test('has a log entry for each change, with the kind of its actor', async () => {
    const entries = (await storedLog(core.db)).filter(({ targets }) =>
      targets.some((target) => target.id === id),
    )
    expect(entries.map(({ eventType, actor }) => [eventType, actor['actor_type']])).toEqual([
      ['FINDING_OPENED', 'Lumos system'],
      ['FINDING_ACCEPTED', 'Lumos user'],
      ['FINDING_REOPENED', 'Lumos system'],
      ['FINDING_ACCEPTED', 'Lumos user'],
      ['FINDING_REOPENED', 'Lumos user'],
    ])
    expect(entries[0]?.metadata).toMatchObject({ app_id: appId, severity: expect.any(String) })
  })

  test('cannot be accepted once it is resolved', async () => {
    await core.db.update(accountSpans).set({ until: now }).where(eq(accountSpans.appId, appId))
    await look('app', appId)
    expect((await read()).state).toBe('RESOLVED')
    expect((await accept({ reason: 'Late', until: '2026-12-31' })).status).toBe(409)
  })
})

describe('separation of duties', () => {
  let pay: { appId: string; permission: string }
  let audit: { appId: string; permission: string }
  let rule: string

  const made = async (name: string) => {
    const appId = await acme.inStore(await unscheduledApp(name))
    return { appId, permission: await acme.group(appId, `${name} group`, name) }
  }
  const wanted = ({ appId, permission }: typeof pay) => ({
    ...{ app_id: appId, requestable_permission_ids: [permission] },
  })
  const bodyOf = (more: object = {}) => ({
    name: 'Pay and audit',
    left: { permissions: [pay.permission] },
    right: { permissions: [audit.permission] },
    ...more,
  })
  const set = async (more: object) => {
    const { status } = await core.call('PUT', `/separation_of_duties/${rule}`, {
      body: bodyOf(more),
    })
    if (status !== 200) throw new Error(`the rule answered ${status}`)
  }
  /** Makes a request that is approved and provisioned by hand. */
  async function given(who: Person, what: typeof pay): Promise<void> {
    const id = await acme.asked(who, wanted(what))
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'COMPLETED')
  }

  beforeAll(async () => {
    await core.db
      .insert(findingSchedules)
      .values({ subject: domainId, domainId, wakeAt: FAR })
      .onConflictDoUpdate({ target: findingSchedules.subject, set: { wakeAt: FAR } })
    pay = await made('pay')
    audit = await made('audit')
    await given(mia, pay)
    await given(mia, audit)
    await given(ada, pay)
    const { status, body } = await core.call('POST', '/separation_of_duties', { body: bodyOf() })
    if (status !== 201) throw new Error(JSON.stringify(body))
    rule = body.id
  })

  test('a rule reports people who already hold both sides, and removes no access', async () => {
    await unschedule()
    await look('domain', domainId)
    const { body } = await core.call('GET', `/findings?separation_rule_id=${rule}`)
    expect(body.items).toMatchObject([
      {
        ...{ kind: 'SEPARATION_BROKEN', user_id: mia.id, severity: 'HIGH', state: 'OPEN' },
        details: { rule: 'Pay and audit', left: ['pay in pay'], right: ['audit in audit'] },
      },
    ])
    const { body: access } = await core.call('GET', `/users/${mia.id}/access`)
    expect(access.items).toHaveLength(2)
  })

  test('WARN shows the conflict to the requester and to the approver', async () => {
    const outlook = await core.call(
      'GET',
      `/appstore/apps/${audit.appId}/request_outlook?requestable_permission_id=${audit.permission}`,
      { token: ada.token },
    )
    const conflict = { id: rule, on_request: 'WARN', holds: ['pay in pay'] }
    expect(outlook.body.separation_of_duties).toMatchObject([conflict])
    const id = await acme.asked(ada, wanted(audit))
    const task = await acme.openTask(id)
    const { body } = await core.call('GET', `/tasks/${task.id}/grounds`)
    expect(body.separation_of_duties).toMatchObject([conflict])
    await acme.settle(id, 'dismiss')
  })

  test('BLOCK refuses the request, even while the other side is only requested', async () => {
    await set({ on_request: 'BLOCK' })
    const refused = await acme.ask(ada, wanted(audit))
    expect(refused.status).toBe(409)
    expect(refused.body.detail).toContain('“Pay and audit”')
    const bea = await person(core.db, 'bea@acme.example')
    const waiting = await acme.asked(bea, wanted(pay))
    expect((await acme.ask(bea, wanted(audit))).status).toBe(409)
    await acme.settle(waiting, 'dismiss')
    expect((await acme.ask(bea, wanted(audit))).status).toBe(201)
  })

  test('BLOCK refuses one of two concurrent requests for both sides', async () => {
    const cal = await person(core.db, 'cal@acme.example')
    const replies = await Promise.all([acme.ask(cal, wanted(pay)), acme.ask(cal, wanted(audit))])
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  test('EXCEPTION adds an approver, and overrides a pre-approval', async () => {
    const judge = await person(core.db, 'judge@acme.example')
    await set({ on_request: 'EXCEPTION', approver_user_ids: [judge.id] })
    const body = {
      ...{
        app_id: audit.appId,
        justification: 'all',
        preapproved_permissions: [{ id: audit.permission }],
      },
      preapproved_users_by_attribute: [{ attribute: 'identity.email', value: 'ada@acme.example' }],
    }
    expect((await core.call('POST', '/appstore/pre_approval_rules', { body })).status).toBe(201)
    const id = await acme.asked(ada, wanted(audit))
    expect(await acme.statusOf(id)).toBe('PENDING_APPROVAL')
    await acme.settle(id, 'complete')
    expect(await acme.statusOf(id)).toBe('PENDING_APPROVAL')
    const assignees = await core.call(
      'GET',
      `/tasks/${(await acme.openTask(id)).id}?expand=assignees`,
    )
    expect(assignees.body.assignees).toMatchObject([{ id: judge.id }])
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
  })

  test('a policy request for blocked access is denied with the reason', async () => {
    await set({ on_request: 'BLOCK' })
    const dan = await person(core.db, 'dan@acme.example')
    await given(dan, pay)
    const policy = {
      ...{
        name: 'All audit',
        business_justification: 'all',
        status: 'PUBLISHED',
        is_enabled: true,
      },
      access_condition: { attribute: 'identity.email', equals: 'dan@acme.example' },
      apps: [{ id: audit.appId, is_preapproved: true, permissions: [{ id: audit.permission }] }],
    }
    expect((await core.call('POST', '/access_policies', { body: policy })).status).toBe(200)
    const denied = await until('the policy has created the request for the audit app', async () => {
      const { body } = await core.call(
        'GET',
        `/appstore/access_requests?target_user_id=${dan.id}&sort=DESC`,
      )
      const [first] = body.items
      return first.app_id === audit.appId ? first : null
    })
    expect(denied.status).toBe('DENIED')
    expect(JSON.stringify(denied)).toContain('separation of duties')
  })

  /** Dan's requests for the other side, in order of creation. */
  const auditRequestsOfDan = async (): Promise<{ id: string; status: string }[]> => {
    const { body: users } = await core.call('GET', '/users?search_term=dan@acme.example')
    const { body } = await core.call(
      'GET',
      `/appstore/access_requests?target_user_id=${users.items[0].id}&sort=ASC`,
    )
    return body.items.filter(({ app_id }: { app_id: string }) => app_id === audit.appId)
  }
  /** Checks the domain for findings, and waits until policies are compared with everyone concerned. */
  async function compared(): Promise<void> {
    await look('domain', domainId)
    await until('no person waits for a comparison with the policies', async () =>
      (await core.db.select().from(policyWants)).length === 0 ? true : null,
    )
  }

  test('a policy requests blocked access again once nothing conflicts with it', async () => {
    await unschedule()
    await compared()
    expect((await auditRequestsOfDan()).map(({ status }) => status)).toEqual(['DENIED'])
    const { body: requests } = await core.call('GET', '/appstore/access_requests?sort=ASC')
    const held = requests.items.find(
      ({ app_id, target_user }: { app_id: string; target_user: { email: string } }) =>
        app_id === pay.appId && target_user.email === 'dan@acme.example',
    )
    const revoke = await core.call('POST', `/appstore/access_requests/${held.id}/revoke`, {
      body: { reason: 'The other side is wanted' },
    })
    expect(revoke.status).toBe(204)
    await acme.reaches(held.id, 'PENDING_MANUAL_DEPROVISIONING')
    await acme.settle(held.id, 'complete')
    await acme.reaches(held.id, 'REVERTED')
    await compared()
    const [first, second] = await auditRequestsOfDan()
    expect(first?.status).toBe('DENIED')
    await acme.reaches(second?.id ?? '', 'PENDING_MANUAL_PROVISIONING')
    await compared()
    expect(await auditRequestsOfDan()).toHaveLength(2)
    await core.db.transaction(async (tx) => {
      await wakeUnblocked(tx, domainId, [], new AbortController().signal)
      expect(await tx.select().from(policyWants)).toEqual([])
    })
  })

  test('a policy requests access again when the rule no longer blocks it', async () => {
    const [, given] = await auditRequestsOfDan()
    await acme.settle(given?.id ?? '', 'complete')
    await acme.reaches(given?.id ?? '', 'COMPLETED')
    const policy = {
      ...{ name: 'All pay', business_justification: 'all', status: 'PUBLISHED', is_enabled: true },
      access_condition: { attribute: 'identity.email', equals: 'dan@acme.example' },
      apps: [{ id: pay.appId, is_preapproved: true, permissions: [{ id: pay.permission }] }],
    }
    expect((await core.call('POST', '/access_policies', { body: policy })).status).toBe(200)
    const [row] = await core.db.select().from(users).where(eq(users.email, 'dan@acme.example'))
    const ofPolicy = () =>
      core.db
        .select({ status: accessRequests.status })
        .from(accessRequests)
        .where(
          and(
            eq(accessRequests.targetUserId, row?.id ?? ''),
            eq(accessRequests.appId, pay.appId),
            isNotNull(accessRequests.policyId),
          ),
        )
        .orderBy(accessRequests.createdAt)
    await until('the request is DENIED', async () =>
      (await ofPolicy())[0]?.status === 'DENIED' ? 1 : null,
    )
    await set({ on_request: 'WARN' })
    await compared()
    await until('the request is PENDING_MANUAL_PROVISIONING', async () =>
      (await ofPolicy())[1]?.status === 'PENDING_MANUAL_PROVISIONING' ? 1 : null,
    )
    await set({ on_request: 'BLOCK' })
  })

  test('a finding is resolved when a side is no longer held, and when the rule is deleted', async () => {
    await unschedule()
    await core.db.execute(sql`update access_requests set status = 'REVERTED', todo = null, wake_at = null
      where target_user_id = ${mia.id} and app_id = ${audit.appId}`)
    await look('domain', domainId)
    const stateOf = async (user: string) =>
      (
        await core.call('GET', `/findings?separation_rule_id=${rule}&user_id=${user}`)
      ).body.items.map(({ state }: { state: string }) => state)
    expect(await stateOf(mia.id)).toEqual(['RESOLVED'])
    await core.db.execute(sql`update access_requests set status = 'COMPLETED'
      where target_user_id = ${mia.id} and app_id = ${audit.appId}`)
    await look('domain', domainId)
    expect(await stateOf(mia.id)).toEqual(['OPEN', 'RESOLVED'])
    expect((await core.call('DELETE', `/separation_of_duties/${rule}`)).status).toBe(204)
    await look('domain', domainId)
    expect(await stateOf(mia.id)).toEqual(['RESOLVED', 'RESOLVED'])
  })

  test('a rule that is empty, names unknown things, or has one thing on both sides is refused', async () => {
    const theirs = await app(core.db, 'Theirs', { domainId: await otherDomain(core.db) })
    for (const body of [
      bodyOf({ left: {} }),
      bodyOf({ left: { apps: [theirs] } }),
      bodyOf({ left: { permissions: ['x'] } }),
      bodyOf({ right: { permissions: [pay.permission] } }),
      bodyOf({ approver_user_ids: [theirs] }),
    ])
      expect((await core.call('POST', '/separation_of_duties', { body })).status).toBe(422)
  })
})
