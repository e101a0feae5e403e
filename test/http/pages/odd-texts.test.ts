/** Texts of forms that the database cannot store, or that are longer than a field allows. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { delegations } from '../../../runtime/database/schema/delegations.ts'
import { accessReviewItems } from '../../../runtime/database/schema/reviews.ts'
import { CHANGES, CONSOLE_FORMS } from '../../../runtime/http/console/table.ts'
import { FORMS } from '../../../runtime/http/pages/table.ts'
import { app, type CoreHost, type Person, person, startCore } from '../../core/host.ts'
import { company } from '../../core/requests/company.ts'
import { reviewWithLines } from '../review-lines.ts'
import { signedIn } from '../settings/visitor.ts'

let core: CoreHost
let ada: Person
let boss: Person
let appId: string
let permissionId: string
beforeAll(async () => {
  core = await startCore()
  const acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  boss = await person(core.db, 'boss@example.com')
  appId = await acme.inStore(await app(core.db, 'Data Warehouse'))
  permissionId = await acme.group(appId, 'readers', 'Read reports')
})
afterAll(() => core.stop())

const ODD = 'a\u0000b'
const LONG = 'x'.repeat(5000)

describe('the reason of a delegate', () => {
  test.each([
    ['with NUL', ODD, 'a\ufffdb'],
    ['that is too long', LONG, LONG.slice(0, 500)],
  ])('%s is shortened or cleaned, and stored', async (_, reason, kept) => {
    const visitor = await signedIn(core, ada.token)
    await visitor.get('/settings/delegates')
    const until = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    const fields = { person: 'boss@example.com', until, reason }
    expect((await visitor.post('/settings/delegates', fields)).status).toBe(303)
    expect(await core.db.select({ reason: delegations.reason }).from(delegations)).toEqual([
      { reason: kept },
    ])
    await core.db.delete(delegations)
  })
})

describe('the reason of a reviewer', () => {
  test.each([
    ['with NUL', ODD, 'a\ufffdb'],
    ['that is too long', LONG, LONG.slice(0, 4000)],
  ])('%s is shortened or cleaned, and stored', async (name, reason, kept) => {
    const id = await reviewWithLines(core, appId, 1, name)
    const visitor = await signedIn(core)
    const { text } = await visitor.get(`/inbox/reviews/${id}`)
    const [, line = ''] = /name="item.0" value="([^"]+)"/.exec(text) ?? []
    const fields = { 'item.0': line, decision: 'REJECT', reason }
    expect((await visitor.post(`/inbox/reviews/${id}/decide`, fields)).status).toBe(303)
    const [item] = await core.db
      .select({ reason: accessReviewItems.reason })
      .from(accessReviewItems)
      .where(sql`review_id = ${id}`)
    expect(item).toEqual({ reason: kept })
  })
})

test('the name of a review is truncated to the limit of the interface', async () => {
  const visitor = await signedIn(core)
  await visitor.get('/console/reviews/new')
  const fields = { name: LONG, deadline: '2999-01-01', 'app.0': appId, do: 'count' }
  const { text } = await visitor.post('/console/reviews/new', fields)
  expect(text).toContain(`value="${LONG.slice(0, 255)}"`)
})

/** Names of the fields that forms use. */
const FIELDS = [
  ...['name', 'description', 'reason', 'why', 'text', 'label', 'url', 'headers', 'public_key'],
  ...['website_url', 'logo_url', 'id', 'app_id', 'permission', 'again', 'person', 'comment'],
  ...['find', 'value', 'value.0', 'attribute.0', 'group.0', 'app.0', 'item.0', 'want.0', 'role'],
  ...['minutes', 'groups', 'amount', 'currency', 'day', 'until', 'expires', 'deadline', 'email'],
  ...['credentials', 'version', 'search', 'arda', 'hint', 'state', 'language', 'mail', 'since'],
]
const CHOICES = {
  ...{ when: 'later', hook_type: 'SIEM', decision: 'REJECT', do: 'save', action_type: 'approve' },
  ...{ access_length: 'ONE_DAY', period: 'MONTH', all: 'yes' },
}

test('no form fails on a text with NUL', async () => {
  const visitor = await signedIn(core)
  const params: Record<string, string> = {
    ...{ app_id: appId, user_id: boss.id, connector_id: 'scim', app_class_id: 'scim' },
    ...{ permission_id: permissionId },
  }
  const fields = { ...Object.fromEntries(FIELDS.map((name) => [name, ODD])), ...CHOICES }
  const ends = ['sign_out', 'sign_out_everywhere']
  const forms = [
    ...Object.entries(FORMS).filter(([name]) => !ends.includes(name)),
    ...Object.entries({ ...CHANGES, ...CONSOLE_FORMS }),
  ].map(([, { path }]) => path)
  const failed: [string, number][] = []
  for (const form of new Set(forms)) {
    const path = form.replace(/:(\w+)/g, (_, name) => params[name] ?? appId)
    const { status } = await visitor.post(path, fields)
    if (status === 500) failed.push([form, status])
  }
  expect(failed).toEqual([])
})
