/** The pages while the database is away, and when it is back. */
import { expect, test } from 'vitest'
import { startCore } from '../../core/host.ts'
import { killDatabase } from '../../database/kill.ts'
import { until } from '../../e2e/until.ts'
import { signedIn, visit } from './visitor.ts'

test('a killed database is reported on a page, and a session survives it', async () => {
  const core = await startCore({}, { server: 'own' })
  const visitor = await signedIn(core)
  killDatabase(core.host.databasePid())

  const away = await until('the database is away', async () => {
    const seen = await visitor.get('/settings/api-tokens')
    return seen.status === 200 ? null : seen
  })
  expect(away.status).toBe(503)
  expect(away.text).toContain('Try again in a moment</h1>')
  expect(away.text).toContain('href="/settings/api-tokens">Try again</a>')
  const german = await visitor.get('/access?q=x', { headers: { 'accept-language': 'de' } })
  expect(german.text).toMatch(/lang="de"[\s\S]*erreicht gerade seine Datenbank nicht/)
  expect(german.text).toContain('href="/access?q=x">Noch einmal versuchen</a>')
  expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(away.headers.get('content-security-policy')).toContain("default-src 'none'")
  // The entered values are returned, to be copied, except secrets.
  for (const path of ['/access/request', '/console/policies/new', '/inbox/0-0/comment']) {
    const typed = { form_token: 'x', why: 'Month end', reason: 'The <audit>', password: 'hush' }
    const lost = await visitor.post(path, typed)
    expect([path, lost.status]).toEqual([path, 503])
    expect(lost.text).toContain('Month end</textarea>')
    expect(lost.text).toContain('The &lt;audit&gt;</textarea>')
    expect(lost.text).not.toContain('hush')
    const foreign = { headers: { 'sec-fetch-site': 'cross-site' } }
    expect((await visitor.post(path, typed, foreign)).text).not.toContain('Month end')
  }
  // A page cannot return a file.
  const files = new Response(new FormData())
  const raw = new Uint8Array(await files.arrayBuffer())
  const headers = { 'content-type': files.headers.get('content-type') ?? '' }
  for (const path of ['/console/install', '/inbox/reviews/0-0/lines/0-0/file']) {
    const lost = await visitor.post(path, {}, { raw, headers })
    expect([path, lost.status]).toEqual([path, 503])
    expect(lost.text).toContain('Open the page again. You have to choose the file again there.')
    expect(lost.text).toContain(`href="${path}">Open the page again</a>`)
  }
  // The session cookie stays, so that the form can be sent again.
  expect(visitor.cookies.has('keyway_session')).toBe(true)
  expect((await visit(core).get('/settings/sign-in')).status).toBe(200)

  await until('the database is back', async () => {
    const { status } = await visitor.get('/settings/api-tokens')
    return status === 200
  })
  await core.stop()
})
