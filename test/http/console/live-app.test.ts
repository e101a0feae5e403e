/** Parts of the page of an app that refresh themselves: the note of a stopped sync, and its findings. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findings } from '../../../runtime/database/schema/findings.ts'
import { withChecksPaused } from '../../core/findings/paused-checks.ts'
import { app, type CoreHost, domainOf, startCore } from '../../core/host.ts'
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

const path = () => `/console/apps/${appId}`
const partOf = (text: string, name: string): string =>
  new RegExp(`<div id="live-${name}"[^>]*>(.*?)</div>`, 's').exec(text)?.[1] ?? 'missing'

test('the note of a stopped sync has its own element, which is empty before', async () => {
  expect(partOf((await visitor.get(path())).text, 'stopped')).toBe('')
  await core.db.execute(sql`
    insert into sync_runs (domain_id, app_id, page_size, state, phase, problem, ended_at)
    values (${await domainOf(core.db)}, ${appId}, 100, 'STOPPED', 'judge', 'half of it vanished', now())`)
  const { text } = await visitor.get(path())
  expect(partOf(text, 'stopped')).toContain('half of it vanished')
  await core.db.execute(sql`delete from sync_runs`)
})

test('a finding that appears after the sync is sent to a page that showed none', async () => {
  const { text } = await visitor.get(path())
  expect(partOf(text, 'findings')).toContain('Nothing is found')
  const [, address = ''] = /<div id="live-findings" data-events="([^"]+)"/.exec(text) ?? []
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const ending = new AbortController()
  const reply = await core.host.app.request(address.replaceAll('&amp;', '&'), {
    headers: { host: 'localhost', cookie },
    signal: ending.signal,
  })
  const reader = reply.body?.getReader()
  await withChecksPaused(core.db, `app ${appId}`, async () => {
    await core.db.insert(findings).values({
      ...{ domainId: await domainOf(core.db), kind: 'SYNC_STALE', severity: 'MEDIUM' },
      ...{ subject: 'live', appId, details: {} },
    })
    let received = ''
    while (!/event: list[\s\S]*\n\n/.test(received))
      received += new TextDecoder().decode((await reader?.read())?.value)
    expect(received.match(/event: list/g), 'what it showed is not sent again').toHaveLength(1)
    expect(received).toContain('"findings":{"total":1,')
    await reader?.cancel()
    ending.abort()
    expect(partOf((await visitor.get(path())).text, 'findings')).toContain('findings/')
    await core.db.delete(findings)
  })
})
