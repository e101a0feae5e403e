/** The registry in the console: its pages, and withdrawn versions. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operator } from '../../connectors/lifecycle/operator.ts'
import { packaged } from '../../connectors/lifecycle/packaging.ts'
import { indexMany, publishInto, withdrawIn } from '../../connectors/lifecycle/publishing.ts'
import { type CoreHost, startCore } from '../../core/host.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let visitor: Visitor
let registry: string
beforeAll(async () => {
  registry = await mkdtemp(path.join(tmpdir(), 'keyway-registry-'))
  core = await startCore({ KEYWAY_REGISTRY: registry })
  visitor = await signedIn(core)
  await operator(core).trustPublisher()
})
afterAll(async () => {
  await core.stop()
  await rm(registry, { recursive: true, force: true })
})

test('a withdrawn version is shown with its reason, marked where it serves, and not offered', async () => {
  const [first, next] = [await packaged(), await packaged({ version: '1.1.0' })]
  await publishInto(registry, [first, next])
  const install = (name: string) =>
    core.call('POST', '/operator/registry/packages', { body: { name } })
  expect((await install('acme@1.1.0')).status).toBe(201)
  await operator(core).activate(next)
  await withdrawIn(registry, 'acme@1.1.0', 'it logs <b>tokens</b>')

  const { body } = await core.call('GET', '/operator/registry?outdated=true')
  const reason = 'it logs <b>tokens</b>'
  expect(body.items[0]).toMatchObject({
    ...{ id: 'acme', newest: '1.0.0', installed: '1.1.0', outdated: false, withdrawn: { reason } },
    versions: [
      { version: '1.1.0', withdrawn: { reason } },
      { version: '1.0.0', withdrawn: null },
    ],
  })
  const answer = await install('acme@1.1.0')
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([
    422,
    expect.stringContaining('acme 1.1.0 was withdrawn on'),
  ])
  expect((await install('acme@^1')).body.package).toMatchObject({ version: '1.0.0' })

  const list = await visitor.get('/console/registry?outdated=yes')
  expect(list.text).toMatch(/1\.1\.0 <span class="badge bad">.*Withdrawn/)
  const page = await visitor.get('/console/registry/acme')
  expect(page.text).toContain('acme 1.1.0 serves here, and is withdrawn')
  expect(page.text).toContain('it logs &lt;b&gt;tokens&lt;/b&gt;')
  expect(page.text).not.toContain('<b>tokens')
  expect(page.text).not.toContain('<option value="1.1.0"')
  const forced = await visitor.post('/console/registry/acme', { version: '1.1.0', keep: 'yes' })
  expect([forced.status, forced.text.includes('was withdrawn on')]).toEqual([422, true])
  const german = await visitor.get('/console/registry/acme', {
    headers: { 'accept-language': 'de' },
  })
  expect(german.text).toContain('acme 1.1.0 läuft hier und ist zurückgezogen')

  await withdrawIn(registry, 'acme@1.0.0', 'it lists nobody')
  const none = await visitor.get('/console/registry')
  expect(none.text).toContain('<span class="soft">Withdrawn</span>')
  expect((await visitor.get('/console/registry/acme')).text).not.toContain('name="keep"')
})

test('a long list has pages, which keep the search text', async () => {
  await indexMany(registry, 120)
  const first = await visitor.get('/console/registry?search=made')
  expect(first.text).toContain('made-000')
  expect(first.text).not.toContain('made-050')
  expect(first.text).toContain('href="/console/registry?search=made&amp;page=2"')
  const last = await visitor.get('/console/registry?search=made&page=3')
  expect(last.text).toContain('made-119')
  expect(last.text).not.toContain('made-099')
  expect(last.text).toContain('rel="prev"')
  for (const odd of ['x', '0', '-1', '999999'])
    expect((await visitor.get(`/console/registry?page=${odd}`)).status).toBe(200)
  const { body } = await core.call('GET', '/operator/registry?limit=50&page=3')
  expect([body.total, body.items.length]).toEqual([120, 20])
})
