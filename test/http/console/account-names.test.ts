/** Names of accounts in findings, in the cost of unused seats and in access reviews. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../../runtime/database/schema/apps.ts'
import { findings } from '../../../runtime/database/schema/findings.ts'
import { accountSpans } from '../../../runtime/database/schema/history.ts'
import { accessReviewItems } from '../../../runtime/database/schema/reviews.ts'
import { withChecksPaused } from '../../core/findings/paused-checks.ts'
import { app, type CoreHost, domainOf, startCore } from '../../core/host.ts'
import { reviewWithLines } from '../review-lines.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let visitor: Visitor
let appId: string
beforeAll(async () => {
  core = await startCore()
  appId = await app(core.db, 'Vault', { connectorId: 'scim' })
  visitor = await signedIn(core)
})
afterAll(() => core.stop())

const ID = '6f1d2c'

/** Replaces the account of the app with one that has these attributes. */
async function account(called: object): Promise<string> {
  await core.db.delete(accounts).where(eq(accounts.appId, appId))
  const [made] = await core.db
    .insert(accounts)
    .values({
      ...{ domainId: await domainOf(core.db), appId, uniqueIdentifier: ID, seenRun: 0 },
      ...{ accountType: 'USER', status: 'ACTIVE', ...called },
    })
    .returning()
  return made?.id ?? ''
}

/** The source of the name, the attributes of the account, and the name that is shown. */
const CALLED = [
  ['its user name', { attributes: { username: 'gwen' }, email: 'g@example.com' }, 'gwen'],
  ['its e-mail address', { email: 'g@example.com' }, 'g@example.com'],
  ['the name of its owner', { givenName: 'Gwen', familyName: 'Ito' }, 'Gwen Ito'],
  ['its id', {}, ID],
] as const

test.each(CALLED)('an account in a finding is shown by %s', async (_, called, name) => {
  const accountId = await account(called)
  const domainId = await domainOf(core.db)
  await withChecksPaused(core.db, `app ${appId}`, async () => {
    const [row] = await core.db
      .insert(findings)
      .values({
        ...{ domainId, kind: 'UNUSED_LICENCE', severity: 'LOW', subject: 'names' },
        ...{ appId, accountId, details: { label: 'Pro' } },
      })
      .returning()
    const page = (await visitor.get(`/console/apps/${appId}`)).text
    const [, list = ''] = /<section class="card" id="findings"(.*?)<\/section>/s.exec(page) ?? []
    const [, shown, below] =
      new RegExp(
        `<td class="c3 wrap">(?:<[^>]+>)*(${name})(?:</span>)?<span class="sub">(.*?)</td>`,
      ).exec(list) ?? []
    expect([shown, below?.includes(ID)]).toEqual([name, name !== ID])
    expect(list).toMatch(new RegExp(`<span class="unseen"> [^<]* ${name}</span>`))
    const { text: asked } = await visitor.get(`/console/findings/${row?.id}/accept?app_id=${appId}`)
    expect(asked).toContain(`Vault, ${name}: `)
    const { text: cost } = await visitor.get('/console/cost')
    expect(cost).toMatch(
      new RegExp(`<th scope="row" class="wrap">(?:<span class="mail">)?${name}<`),
    )
    await core.db.delete(findings)
  })
})

test.each(CALLED)('an account in a review line is shown by %s', async (_, called, name) => {
  const accountId = await account(called)
  const id = await reviewWithLines(core, appId, 1, `Called by ${name}`)
  const [line] = await core.db
    .update(accessReviewItems)
    .set({ accountId, account: ID })
    .where(eq(accessReviewItems.reviewId, id))
    .returning()
  for (const path of [`/inbox/reviews/${id}`, `/console/reviews/${id}`]) {
    const { text } = await visitor.get(path)
    expect(text).toMatch(new RegExp(`>${name}(?:</span>)?<span class="sub`))
    expect(text.includes(`<span class="sub">${ID}</span>`)).toBe(name !== ID)
  }
  const { text } = await visitor.get(`/inbox/reviews/${id}`)
  expect(text).toContain(`value="${line?.id}" aria-label="Choose ${name}: `)
})

test.each(CALLED)(
  'an account in the preview of a review is shown by %s',
  async (_, called, name) => {
    const accountId = await account(called)
    const domainId = await domainOf(core.db)
    await core.db.delete(accountSpans).where(eq(accountSpans.appId, appId))
    await core.db.insert(accountSpans).values({
      ...{ domainId, appId, accountId, uniqueIdentifier: ID, accountType: 'USER' },
      since: new Date(0),
    })
    const path = '/console/reviews/new'
    await visitor.get(path)
    const { text } = await visitor.post(path, {
      ...{ name: 'Preview', deadline: '2999-01-01', type: 'ACCOUNTS', reviewers: 'APP_ADMINS' },
      ...{ on_deadline: 'LEAVE', 'app.0': appId, do: 'count' },
    })
    expect(text).toContain(`<li class="wrap">${name} · Vault</li>`)
  },
)

test('a deleted account is shown in a review by its name at the launch', async () => {
  const id = await reviewWithLines(core, appId, 1, 'Gone')
  await core.db
    .update(accessReviewItems)
    .set({ account: ID, accountEmail: 'was@example.com' })
    .where(eq(accessReviewItems.reviewId, id))
  const { text } = await visitor.get(`/console/reviews/${id}`)
  expect(text).toMatch(/>was@example\.com<\/span><span class="sub">6f1d2c</)
})
