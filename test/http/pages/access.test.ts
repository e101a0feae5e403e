/** My access: redirects, contents, and the forms to request, withdraw and give back access. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CALLER_LIMITS } from '../../../runtime/contract/limits/caller-limits.ts'
import { requestablePermissions } from '../../../runtime/database/schema/app_store.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { memberSpans } from '../../../runtime/database/schema/history.ts'
import { accessPolicies } from '../../../runtime/database/schema/policies.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { tasks } from '../../../runtime/database/schema/tasks.ts'
import {
  app,
  type CoreHost,
  domainOf,
  group,
  type Person,
  person,
  startCore,
} from '../../core/host.ts'
import { type Company, company } from '../../core/requests/company.ts'
import { lastEvents, NOBODY_ID } from '../../core/store.ts'
import { until } from '../../e2e/until.ts'
import { signedIn, type Visitor, visit } from '../settings/visitor.ts'

let core: CoreHost
let acme: Company
let ada: Person
let boss: Person
let appId: string
let permission: string
beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  boss = await person(core.db, 'boss@example.com')
  await acme.setManager(ada.id, boss.id)
  appId = await acme.inStore(await app(core.db, 'Data Warehouse'), {
    require_manager_approval: true,
  })
  permission = await acme.group(appId, 'readers', 'Read <b>reports</b>')
})
afterAll(() => core.stop())

const HTML = { accept: 'text/html' }

/** A visitor who has seen My access, so that forms can be sent. */
async function at(who: Person, path = '/access'): Promise<Visitor> {
  const visitor = await signedIn(core, who.token)
  await visitor.get(path)
  return visitor
}

describe('a browser that opens /', () => {
  test('is redirected to the sign-in, and from there to its page', async () => {
    const visitor = visit(core)
    const { status, headers } = await visitor.get('/', { headers: HTML })
    expect([status, headers.get('location')]).toEqual([303, '/settings/sign-in?next=%2F'])
    await visitor.get('/settings/sign-in?next=%2F')
    const signed = await visitor.post('/settings/sign-in', { token: ada.token })
    expect([signed.status, signed.headers.get('location')]).toEqual([303, '/'])
    const redirect = await visitor.get('/', { headers: HTML })
    expect(redirect.headers.get('location')).toBe('/access')
  })

  test('is redirected to the inbox while a task is open', async () => {
    const chief = await person(core.db, 'chief@example.com')
    const clerk = await person(core.db, 'clerk@example.com')
    await acme.setManager(clerk.id, chief.id)
    await acme.asked(clerk, { app_id: appId })
    const visitor = await signedIn(core, chief.token)
    expect((await visitor.get('/', { headers: HTML })).headers.get('location')).toBe('/inbox')
  })

  test('is redirected to the console for operators, and to My access for read-only admins', async () => {
    const operator = await signedIn(core)
    expect((await operator.get('/', { headers: HTML })).headers.get('location')).toBe('/console')
    const reader = await person(core.db, 'reader@example.com', ['Read Only Admin'])
    const redirect = await (await signedIn(core, reader.token)).get('/', { headers: HTML })
    expect(redirect.headers.get('location')).toBe('/access')
  })

  test.each([
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'TEXT/HTML',
    'application/json, text/html;q=0.1',
  ])('is recognized by its Accept header: %s', async (accept) => {
    const { status, headers } = await visit(core).get('/', { headers: { accept } })
    expect([status, headers.get('vary')]).toEqual([303, 'accept'])
  })

  test.each(['*/*', 'application/json', '', 'text/html;q=0', 'text/plain'])(
    'is not a program: Accept %j gets 404',
    async (accept) => {
      expect((await visit(core).get('/', { headers: { accept } })).status).toBe(404)
    },
  )
})

describe('pages without a sign-in', () => {
  test.each(['/access?q=reports', '/inbox', `/access/request?app_id=${NOBODY_ID}`])(
    '%s redirects to the sign-in, with the way back in the address',
    async (path) => {
      const { status, headers } = await visit(core).get(path)
      expect(status).toBe(303)
      const [, next] = (headers.get('location') ?? '').split('next=')
      expect(decodeURIComponent(next ?? '')).toBe(path)
    },
  )

  test('keep the entered values of a form, and do nothing', async () => {
    const raw = new URLSearchParams({ app_id: appId, why: 'Month end <1>' }).toString()
    const { status, text } = await visit(core).post('/access/request', {}, { raw })
    expect(status).toBe(403)
    expect(text).toContain('Nothing was sent')
    expect(text).toContain('Month end &lt;1&gt;</textarea>')
  })

  test('keep other fields, too, except hidden ones and those that may contain a secret', async () => {
    const typed = {
      name: 'Engineering <1>',
      value_1: 'Berlin',
      sure: 'yes',
      headers: 'x-key: s3cret',
    }
    const raw = new URLSearchParams({ form_token: 'proof', ...typed }).toString()
    const { status, text } = await visit(core).post('/console/policies/new', {}, { raw })
    expect(status).toBe(403)
    expect(text).toContain('name: Engineering &lt;1&gt;\nvalue_1: Berlin</textarea>')
    expect(text).not.toMatch(/s3cret|proof/)
  })
})

describe('every page', () => {
  test('loads and runs only its own files, which browsers cache', async () => {
    const visitor = await at(ada)
    for (const path of ['/access', '/inbox', '/access/nothing', '/settings/sign-in']) {
      const { text, headers } = await visitor.get(path)
      expect(headers.get('content-security-policy'), path).toMatch(/^default-src 'none';/)
      expect(headers.get('cache-control'), path).toBe('no-store')
      expect(text, path).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?! src="\/assets\/)/)
    }
    const { headers } = await visitor.get('/assets/keyway.css')
    const tag = headers.get('etag') ?? ''
    const again = await visitor.get('/assets/keyway.css', { headers: { 'if-none-match': tag } })
    expect(again.status).toBe(304)
  })

  test('that does not exist is answered with a 404 page, and a wrong method with 405', async () => {
    const visitor = await at(ada)
    const missing = await visitor.get('/access/nothing/here')
    expect(missing.status).toBe(404)
    expect(missing.text).toContain('<h1 id="h-said">Not found</h1>')
    const wrong = await visitor.post('/access')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET'])
  })

  test.each(['/nothing', '/acces', '/console2/apps', '/apps/none/nothing'])(
    'with a mistyped path is answered with a 404 page, and with JSON for programs: %s',
    async (path) => {
      const stranger = visit(core)
      const missing = await stranger.get(path, { headers: { ...HTML, 'accept-language': 'de' } })
      expect([missing.status, missing.headers.get('vary')]).toEqual([404, 'accept'])
      expect(missing.text).toContain('<h1 id="h-said">Nicht gefunden</h1>')
      expect(missing.text).toMatch(/<a class="btn" href="\/">/)
      expect(missing.text).not.toContain('lang="en"')
      expect(missing.headers.get('content-security-policy')).toMatch(/^default-src 'none';/)
      for (const accept of ['*/*', 'application/json', '']) {
        const answer = await stranger.get(path, { headers: { accept } })
        expect([answer.status, JSON.parse(answer.text)]).toEqual([404, { detail: 'Not Found' }])
      }
      const sent = await stranger.post(path, {}, { headers: HTML })
      expect([sent.status, JSON.parse(sent.text)]).toEqual([404, { detail: 'Not Found' }])
    },
  )
})

const LENGTH = { access_length: '8 hours' }

describe('requesting access', () => {
  test('starts with the choice of a permission, then offers lengths and shows who decides', async () => {
    const visitor = await at(ada)
    const choose = await visitor.get(`/access/request?app_id=${appId}`)
    expect(choose.text).toContain('Read &lt;b&gt;reports&lt;/b&gt;')
    const form = await visitor.get(`/access/request?app_id=${appId}&permission=${permission}`)
    expect(form.text).toContain('boss Test')
    expect(form.text).toContain('Decides as manager')
    // None of several lengths is preselected; each says when the access would end.
    expect(form.text).not.toContain(' checked')
    expect(form.text).toMatch(/>8 hours <span class="sub">until <time[^>]*>\d+ \w+ \d\d:\d\d UTC</)
    expect(form.text).toMatch(/>90 days <span class="sub">until <time[^>]*>\d+ \w+( \d{4})?</)
  })

  test('is preceded by who decides and how long it takes, for each app and each permission', async () => {
    const visitor = await at(ada)
    const tiles = (await visitor.get('/access?q=Data+Warehouse')).text
    expect(tiles).toContain(
      '<dt>Decides</dt><dd>boss Test</dd><dt>How long it takes</dt><dd>Not known yet: too few decisions so far</dd>',
    )
    const choose = await visitor.get(`/access/request?app_id=${appId}`)
    expect(choose.text).toMatch(/Read &lt;b&gt;reports[^\n]*Decides: boss Test/)

    const ruled = await acme.inStore(await app(core.db, 'Ruled'))
    const mine = [{ attribute: 'email', value: 'ada@example.com' }]
    const rule = { app_id: ruled, justification: 'ok', preapproved_users_by_attribute: mine }
    await core.call('POST', '/appstore/pre_approval_rules', { body: rule })
    expect((await visitor.get('/access?q=Ruled')).text).toContain('No one: a rule approves it')
    const form = await visitor.get(`/access/request?app_id=${ruled}`)
    expect(form.text).toContain('Nobody is asked')
  })

  test('finds an app by its permissions, except by those that the person may not see', async () => {
    const visitor = await at(ada)
    const found = async (q: string) =>
      (await visitor.get(`/access?q=${q}`)).text.includes('>Data Warehouse</a>')
    const hidden = await acme.group(appId, 'hidden', 'Rewrite history')
    const insiders = await group(core.db, 'Historians', [boss])
    const change = (set: object) =>
      core.db.update(requestablePermissions).set(set).where(eq(requestablePermissions.id, hidden))
    expect([await found('reports'), await found('history'), await found('no%25such')]).toEqual([
      ...[true, true, false],
    ])
    await change({ allowedGroupsOverride: true, allowedGroupIds: [insiders] })
    expect(await found('history')).toBe(false)
    await change({ allowedGroupsOverride: false, allowedGroupIds: null, visibility: 'HIDDEN' })
    expect(await found('history')).toBe(false)
    await core.db.delete(requestablePermissions).where(eq(requestablePermissions.id, hidden))
  })

  test('creates the request, which is shown as a timeline', async () => {
    const visitor = await at(ada, `/access/request?app_id=${appId}&permission=${permission}`)
    const sent = await visitor.post('/access/request', { ...LENGTH, why: 'Month end' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/access#waiting'])
    const { text } = await visitor.get('/access')
    expect(text).toMatch(/id="waiting"[\s\S]*Your request is sent\.[\s\S]*<article/)
    expect(text).toContain('“Month end”')
    expect(text).toContain('boss Test decides now')
    expect(text).toContain('if given now, until <time')
    expect((await visitor.get('/access')).text).not.toContain('Your request is sent.')
    const { body } = await core.call('GET', '/appstore/access_requests', { token: ada.token })
    expect(body.items.at(-1)).toMatchObject({
      expiration_in_seconds: 8 * 3600,
      notes: { PENDING: 'Month end' },
      requestable_permissions: [{ id: permission }],
    })
  })

  test('creates one request from a form that is sent twice, also concurrently, and says so', async () => {
    const twice = await acme.inStore(await app(core.db, 'Twice'))
    const visitor = await at(ada, `/access/request?app_id=${twice}&permission=app`)
    const fields = { ...LENGTH, why: 'Two clicks' }
    const sent = await Promise.all([1, 2].map(() => visitor.post('/access/request', fields)))
    expect(sent.map(({ status }) => status).toSorted()).toEqual([303, 409])
    await visitor.get(`/access/request?app_id=${twice}&permission=app`)
    const later = await visitor.post('/access/request', { ...fields, why: 'After going back' })
    expect(later.status).toBe(409)
    expect(later.text).toContain('You have already asked for this')
    expect(later.text).toContain('After going back</textarea>')
    const { body } = await core.call('GET', '/appstore/access_requests', { token: ada.token })
    expect(body.items.filter((one: { app_id: string }) => one.app_id === twice)).toHaveLength(1)
  })

  test.each([
    ['a reason', LENGTH, 'Say why you need it'],
    ['a length', { why: 'Month end' }, 'Choose how long'],
    ['a known length', { why: 'Month end', access_length: 'forever' }, 'Choose how long'],
  ])(
    'without %s is refused on the page, which keeps the entered values',
    async (_what, fields, words) => {
      const visitor = await at(ada, `/access/request?app_id=${appId}&permission=${permission}`)
      const { status, text } = await visitor.post('/access/request', fields)
      expect(status).toBe(422)
      expect(text).toContain(words)
      if ('why' in fields) expect(text).toContain('Month end</textarea>')
    },
  )

  test('for a length that the app does not have is refused with the message of the core', async () => {
    const lengths = { time_based_access: ['2 hours'] }
    const short = await acme.inStore(await app(core.db, 'Short'), {}, lengths)
    const visitor = await at(ada, `/access/request?app_id=${short}`)
    const { status, text } = await visitor.post('/access/request', { ...LENGTH, why: 'All day' })
    expect(status).toBe(422)
    expect(text).toContain('Here it must be one of &quot;2 hours&quot;.')
  })

  test('says if access is given and removed by hand although the app has a connector', async () => {
    const studio = await acme.inStore(await app(core.db, 'Studio'))
    await core.db.update(apps).set({ connectorId: 'studio' }).where(eq(apps.id, studio))
    const made = await core.call('POST', '/appstore/requestable_permissions', {
      body: { app_id: studio, label: 'Editor', request_config: { appstore_visibility: 'VISIBLE' } },
    })
    expect(made.status, JSON.stringify(made.body)).toBeLessThan(300)
    const visitor = await at(ada)
    const ask = (what: string) => visitor.get(`/access/request?app_id=${studio}&permission=${what}`)
    const { text } = await ask(made.body.id)
    expect(text).toContain('A person gives it by hand')
    expect(text).toContain('A person takes it back by hand')
    expect(text).not.toContain('Keyway gives it')
    expect((await ask('app')).text).toContain('Keyway gives it')
  })

  test('for access limited to members of groups says so before anything is typed', async () => {
    const insiders = await group(core.db, 'Insiders', [boss])
    const allowed_groups = { type: 'SPECIFIED_GROUPS', groups: [{ id: insiders }] }
    const vault = await acme.inStore(await app(core.db, 'Members only'), { allowed_groups })
    const outside = await at(ada)
    const card = (await outside.get('/access?q=Members+only')).text
    expect(card).toContain('Only members of certain groups can ask for this')
    const shown = (await outside.get(`/access/request?app_id=${vault}`)).text
    expect(shown).toContain('you are in none of them')
    expect(shown).not.toContain('<textarea')
    expect(card + shown).not.toContain('Insiders')
    const inside = await at(boss)
    expect((await inside.get('/access?q=Members+only')).text).not.toContain('Only members of')
    expect((await inside.get(`/access/request?app_id=${vault}`)).text).toContain('<textarea')
  })

  test('for a disconnected app says so before anything is typed', async () => {
    const old = await acme.inStore(await app(core.db, 'Old intranet'))
    await acme.group(old)
    const visitor = await at(ada)
    await core.db.update(apps).set({ disconnectedAt: new Date() }).where(eq(apps.id, old))
    expect((await visitor.get('/access?q=Old+intranet')).text).toContain(
      'is disconnected at present',
    )
    for (const more of ['', '&permission=app']) {
      const shown = (await visitor.get(`/access/request?app_id=${old}${more}`)).text
      expect(shown).toContain('is disconnected at present')
      expect(shown).not.toContain('<textarea')
    }
  })

  test('for an app that is not discoverable is answered 404', async () => {
    const hidden = await acme.inStore(await app(core.db, 'Hidden'), { discoverability: 'NONE' })
    const visitor = await at(ada)
    expect((await visitor.get(`/access/request?app_id=${hidden}`)).status).toBe(404)
    expect((await visitor.get('/access/request?app_id=%00')).status).toBe(404)
  })
})

describe('forms', () => {
  const countOf = async (who: Person) =>
    (await core.call('GET', '/appstore/access_requests', { token: who.token })).body.total

  test('from another site or another session do nothing', async () => {
    const visitor = await at(ada, `/access/request?app_id=${appId}&permission=${permission}`)
    const count = await countOf(ada)
    const fields = { ...LENGTH, why: 'Forged' }
    const foreign = await visitor.post('/access/request', fields, {
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    expect(foreign.status).toBe(403)
    const replayed = await visitor.post('/access/request', { ...fields, form_token: 'x' })
    expect(replayed.status).toBe(403)
    expect(replayed.text).toContain('Forged</textarea>')
    expect(await countOf(ada)).toBe(count)
  })

  test('with a read-only token do nothing', async () => {
    const visitor = await signedIn(core, ada.readOnlyToken)
    await visitor.get(`/access/request?app_id=${appId}&permission=${permission}`)
    const count = await countOf(ada)
    const { status, text } = await visitor.post('/access/request', { ...LENGTH, why: 'Read' })
    expect(status).toBe(403)
    expect(text).toContain('read-only token')
    expect(await countOf(ada)).toBe(count)
  })
})

describe('the language', () => {
  const german = { headers: { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' } }

  test('is that of the browser, unless the person chose one', async () => {
    const eve = await at(await person(core.db, 'language@example.com'))
    const { text } = await eve.get('/access', german)
    expect(text).toContain('<html lang="de">')
    expect(text).toContain('<h1>Mein Zugang</h1>')
    expect((await eve.get('/access')).text).toContain('<h1>My access</h1>')
    await eve.get('/settings/personal')
    const sent = await eve.post('/settings/personal', { mail: 'DIGEST', language: 'en' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/settings/personal'])
    const saved = await eve.get('/settings/personal', german)
    expect(saved.text).toContain('Your choice is saved.')
    expect(saved.text).toMatch(/value="DIGEST" checked/)
    expect((await eve.get('/access', german)).text).toContain('<h1>My access</h1>')
  })

  test('of error pages is the one that the person chose', async () => {
    const eve = await at(await person(core.db, 'wrong@example.com'), '/settings/personal')
    await eve.post('/settings/personal', { mail: 'NONE', language: 'de' })
    const { status, text } = await eve.get('/access/requests/none')
    expect([status, text]).toEqual([404, expect.stringContaining('<html lang="de">')])
    expect(text).toContain('<h1 id="h-said">Nicht gefunden</h1>')
  })

  test('is that of the browser for anonymous visitors, also on error pages', async () => {
    const stranger = visit(core)
    expect((await stranger.get('/settings/sign-in', german)).text).toContain('<h1>Anmelden</h1>')
    const lost = await stranger.get('/access/nothing', german)
    expect(lost.text).toContain('<h1 id="h-said">Nicht gefunden</h1>')
  })

  test('and the mail setting are changed only by a valid form of the page', async () => {
    const eve = await at(await person(core.db, 'chooser@example.com'), '/settings/personal')
    for (const fields of [
      { mail: 'HOURLY', language: 'en' },
      { mail: 'NONE', language: 'xx' },
    ])
      expect((await eve.post('/settings/personal', fields)).status).toBe(400)
    const forged = { mail: 'NONE', language: 'de', form_token: 'x' }
    expect((await eve.post('/settings/personal', forged)).status).toBe(403)
    const { text } = await eve.get('/settings/personal')
    expect(text).toMatch(/value="AT_ONCE" checked/)
  })
})

describe('the look of a browser', () => {
  const CHOSEN = { mail: 'AT_ONCE', language: 'browser', theme: 'dark', keys: 'on' }

  test('is that of the device, until the form sets a theme', async () => {
    const eve = await at(await person(core.db, 'looks@example.com'), '/settings/personal')
    expect((await eve.get('/inbox')).text).toContain('<html lang="en">')
    await eve.get('/settings/personal')
    expect((await eve.post('/settings/personal', CHOSEN)).status).toBe(303)
    expect((await eve.get('/inbox')).text).toContain('<html lang="en" data-theme="dark">')
    // The theme is a property of the browser: error pages have it, too.
    const lost = await eve.get('/access/nothing')
    expect(lost.text).toContain('<html lang="en" data-theme="dark">')
    const { text } = await eve.get('/settings/personal')
    expect(text).toMatch(/name="theme" value="dark" checked/)
  })

  test('has no single-key shortcuts if they are turned off, and no hint of them', async () => {
    const eve = await at(await person(core.db, 'speaks@example.com'), '/settings/personal')
    await eve.post('/settings/personal', { mail: 'NONE', language: 'en', theme: 'light' })
    const { text } = await eve.get('/inbox')
    expect(text).toContain('<html lang="en" data-theme="light" data-keys="off">')
    expect(text).not.toContain('data-key="?"')
    // A form from an older version of the page has no such fields, and changes neither.
    await eve.get('/settings/personal')
    await eve.post('/settings/personal', { mail: 'NONE', language: 'en' })
    expect((await eve.get('/inbox')).text).toContain('data-theme="light" data-keys="off"')
  })

  test('is refused in the form and ignored in the cookie if it is unknown', async () => {
    const eve = await at(await person(core.db, 'odd@example.com'), '/settings/personal')
    const odd = { ...CHOSEN, theme: 'pink' }
    expect((await eve.post('/settings/personal', odd)).status).toBe(400)
    eve.cookies.set('keyway_look', '"><script>')
    expect((await eve.get('/inbox')).text).toContain('<html lang="en">')
  })
})

describe('delegates', () => {
  const inDays = (days: number) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const PATH = '/settings/delegates'

  test('are named with their dates, shown to both people, and withdrawn', async () => {
    const kim = await at(await person(core.db, 'kit@example.com'), PATH)
    const lee = await at(await person(core.db, 'lee@example.com'), PATH)
    expect((await kim.get(PATH)).text).toContain('You have not named a delegate.')
    const fields = {
      person: 'lee@example.com',
      since: inDays(1),
      until: inDays(3),
      reason: 'A trip',
    }
    const sent = await kim.post(PATH, fields)
    expect([sent.status, sent.headers.get('location')]).toEqual([303, PATH])
    const named = (await kim.get(PATH)).text
    expect(named).toContain('The delegate is named.')
    expect(named).toMatch(/Not yet/)
    const seen = (await lee.get(PATH)).text
    expect(seen).toContain('kit@example.com')
    expect(seen).toContain('“A trip”')
    const [, id = ''] = /action="\/settings\/delegates\/([^"/]+)\/end"/.exec(seen) ?? []
    const other = await at(await person(core.db, 'max@example.com'), PATH)
    expect((await other.post(`${PATH}/${id}/end`)).status).toBe(404)
    expect((await kim.post(`${PATH}/${id}/end`)).status).toBe(303)
    const ended = (await kim.get(PATH)).text
    expect(ended).toContain('Ended')
    expect(ended).not.toContain(`${PATH}/${id}/end`)
  })

  test('decide from now on if the first day is today', async () => {
    const kim = await at(await person(core.db, 'pat@example.com'), PATH)
    await kim.post(PATH, { person: 'boss@example.com', since: inDays(0), until: inDays(0) })
    expect((await kim.get(PATH)).text).toContain('Decides now')
  })

  test.each([
    [
      'an unknown person',
      { person: 'nobody@example.com', until: inDays(2) },
      /No(body| one| person)/,
    ],
    ['the person themself', { person: 'ada@example.com', until: inDays(2) }, /own delegate/],
    ['no last day', { person: 'boss@example.com' }, /Choose a last day/],
    [
      'a day that does not exist',
      { person: 'boss@example.com', until: '2026-02-31' },
      /must be in the future/,
    ],
    ['more than 366 days', { person: 'boss@example.com', until: inDays(500) }, /at most 366 days/i],
  ])(
    'are refused, and the page keeps the entered values: %s',
    async (what, fields: Record<string, string>, words) => {
      const { status, text } = await (await at(ada, PATH)).post(PATH, fields)
      expect(status).toBe(422)
      expect(text).toContain('No delegate was named')
      const field = /person/.test(what) ? 'person' : 'until'
      const marks = [
        ...text.matchAll(/name="(\w+)"[^>]* aria-invalid="true" aria-describedby="not-named /g),
      ]
      expect(marks.map(([, name]) => name)).toEqual([field])
      expect(text).toMatch(words)
      expect(text).toContain(`value="${fields['person']}"`)
    },
  )
})

describe('a request', () => {
  test('can be withdrawn only by the person who asked', async () => {
    const id = await acme.asked(ada, { app_id: appId })
    const other = await at(await person(core.db, 'eve@example.com'))
    expect((await other.get(`/access/requests/${id}`)).status).toBe(404)
    expect((await other.post(`/access/requests/${id}/withdraw`)).status).toBe(404)
    const visitor = await at(ada, `/access/requests/${id}`)
    const { status } = await visitor.post(`/access/requests/${id}/withdraw`, { reason: 'Done' })
    expect(status).toBe(303)
    expect(await acme.statusOf(id)).toBe('CANCELLED')
    expect((await visitor.get(`/access/requests/${id}`)).text).toContain('“Done”')
  })

  test('names the person who decides after the current one', async () => {
    const last = await person(core.db, 'last@example.com')
    const flow = {
      require_manager_approval: true,
      approvers: { users: [{ id: last.id }], groups: [] },
    }
    const vault = await acme.inStore(await app(core.db, 'Deep Vault'), flow)
    const id = await acme.asked(ada, { app_id: vault })
    const visitor = await at(ada)
    const way = /boss Test decides now[\s\S]*Then last Test decides[\s\S]*Then yours/
    for (const path of ['/access', `/access/requests/${id}`])
      expect((await visitor.get(path)).text).toMatch(way)
    const decider = await signedIn(core, boss.token)
    const task = (await acme.openTask(id)).id
    expect((await decider.get(`/inbox/${task}`)).text).toContain('Then last Test decides')
    await acme.settle(id, 'complete')
    const { text } = await visitor.get(`/access/requests/${id}`)
    expect(text).toMatch(/last Test decides now[\s\S]*Then yours/)
    expect(text).not.toContain('Then last Test decides')
  })

  test('of another person names that person, and links to the list of all requests', async () => {
    const id = await acme.asked(ada, { app_id: appId })
    const { text } = await (await signedIn(core)).get(`/access/requests/${id}`)
    expect(text).toContain('For ada Test.')
    expect(text).toContain('Then ada Test has it')
    expect(text).not.toContain('yours')
    expect(text).toContain('<a href="/console/requests">')
  })

  test('that gave access shows when it ends, and can be given back', async () => {
    const zoe = await person(core.db, 'zoe@example.com')
    await acme.group(appId, 'writers', 'Write reports')
    await acme.setManager(zoe.id, boss.id)
    const id = await acme.asked(zoe, {
      app_id: appId,
      requestable_permission_ids: [permission],
      ...LENGTH,
    })
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'COMPLETED')
    const visitor = await at(zoe)
    const { text } = await visitor.get('/access')
    expect(text).toContain('8 hours left')
    expect(text).toMatch(/Requested .*, approved by/)
    const choose = (await visitor.get(`/access/request?app_id=${appId}`)).text
    expect(choose).toMatch(/reports&lt;\/b&gt;<\/a>[\s\S]*You have it[\s\S]*Write reports/)
    expect(choose.split('You have it').length).toBe(2)
    // One of two requestable permissions is held; others that are found in the app do not count.
    expect(text).toMatch(/>2 permissions<\/span>[^\n]*You have 1</)
    const more = await acme.asked(zoe, {
      ...{ app_id: appId, requestable_permission_ids: [permission], access_length: '30 days' },
    })
    const { status } = await visitor.post(`/access/requests/${id}/give-back`)
    expect(status).toBe(303)
    // Approval of the request for more time would give the access again.
    expect(await acme.statusOf(more)).toBe('CANCELLED')
    await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
    const after = (await visitor.get('/access')).text
    expect(after).toContain('Waits to be removed by hand')
    expect(after).toMatch(/You gave it back; .+ removes it by hand/)
    expect(after).not.toMatch(/Given in|Cannot be given back|8 hours left/)
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'REVERTED')
    const { text: way } = await visitor.get(`/access/requests/${id}`)
    expect(way).toMatch(/ gave it by hand[\s\S]*You gave it back[\s\S]* took it back by hand/)
    expect(way).not.toContain('Given back by the person')
    const { text: over } = await visitor.get('/access')
    expect(over).toMatch(
      /Requests that have ended \(2\)[\s\S]*<span class="sub">for 8 hours, asked <time[\s\S]*You gave it back/,
    )
    expect(over).not.toContain('Given back by the person')
  })

  test('that was denied is shown for a week, with the reason and a link to ask again', async () => {
    const ann = await person(core.db, 'ann@example.com')
    await acme.setManager(ann.id, boss.id)
    const id = await acme.asked(ann, {
      ...{ app_id: appId, requestable_permission_ids: [permission] },
      business_justification: 'All reports of <May>',
    })
    const decider = await at(boss)
    const taskId = (await acme.openTask(id)).id
    const no = { action_type: 'deny', reason: 'Ask for the summary' }
    expect((await decider.post(`/inbox/${taskId}`, no)).status).toBe(303)
    const visitor = await at(ann)
    const { text } = await visitor.get('/access')
    expect(text).toMatch(/Not granted lately[\s\S]*boss Test said no[\s\S]*“Ask for the summary”/)
    const [, again = ''] = /href="(\/access\/request\?app_id=[^"]*)">Ask again/.exec(text) ?? []
    // It is shown first, and not listed a second time.
    expect(text).toMatch(/id="waiting"[\s\S]*id="have"/)
    expect(text).not.toContain('Requests that have ended')
    const form = (await visitor.get(again.replaceAll('&amp;', '&'))).text
    expect(form).toMatch(/Your request was not granted[\s\S]*“Ask for the summary”/)
    expect(form).toContain('All reports of &lt;May&gt;</textarea>')
    const sent = await visitor.post('/access/request', { why: 'The summary' })
    expect([sent.status, sent.text]).toEqual([
      422,
      expect.stringContaining('“Ask for the summary”'),
    ])
    const others = (await decider.get(again.replaceAll('&amp;', '&'))).text
    expect(others).toContain('<textarea')
    expect(others).not.toMatch(/Ask for the summary|All reports of/)
    const aged = sql`update tasks set updated_at = now() - interval '8 days' where access_request_id = ${id}`
    await core.db.execute(aged)
    const old = sql`update access_requests set created_at = now() - interval '9 days' where id = ${id}`
    await core.db.execute(old)
    const later = (await visitor.get('/access')).text
    expect(later).not.toContain('Not granted lately')
    expect(later).toContain('Requests that have ended (1)')
    expect(later).toMatch(/id="have"[\s\S]*id="waiting"/)
  })
})

describe('an extension of access', () => {
  const LENGTHS = { time_based_access: ['30 days', '90 days'] }
  const DAY_MS = 86_400_000
  let atelier: string
  let editor: string
  beforeAll(async () => {
    const flow = { require_manager_approval: true }
    atelier = await acme.inStore(await app(core.db, 'Atelier'), flow, LENGTHS)
    editor = await acme.group(atelier, 'editors', 'Editor')
  })

  const formAt = () => `/access/request?app_id=${atelier}&permission=${editor}`

  async function given(id: string): Promise<string> {
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'COMPLETED')
    return id
  }

  const asked = (who: Person) =>
    acme.asked(who, {
      ...{ app_id: atelier, requestable_permission_ids: [editor] },
      access_length: '90 days',
    })

  const endsIn = (id: string, days: number) =>
    core.db
      .update(accessRequests)
      .set({ expiresAt: new Date(Date.now() + days * DAY_MS) })
      .where(eq(accessRequests.id, id))

  async function holder(name: string): Promise<Person> {
    const who = await person(core.db, `${name}@example.com`)
    await acme.setManager(who.id, boss.id)
    return who
  }

  test('cannot be requested until a length ends later; the page says when that is', async () => {
    const kai = await holder('kai')
    await given(await asked(kai))
    const visitor = await at(kai)
    const { text } = await visitor.get(formAt())
    expect(text).toContain('<h1 class="wrap">Extend access to Atelier</h1>')
    expect(text).toMatch(
      /You have it until <time[\s\S]*You can extend it from <time[^>]*>\d+ \w+( \d{4})?<\/time> on/,
    )
    expect(text).not.toContain('<textarea')
    const german = await visitor.get(formAt(), { headers: { 'accept-language': 'de' } })
    expect(german.text).toMatch(/Zugang zu Atelier verlängern[\s\S]*Verlängern können Sie ab <time/)
    const fields = { app_id: atelier, permission: editor, why: 'More', access_length: '30 days' }
    const sent = await visitor.post('/access/request', fields)
    expect([sent.status, sent.text]).toEqual([422, expect.stringContaining('You have it until')])
  })

  test('is offered in lengths that end later, is one row with the old access, and is given back with it', async () => {
    const mia = await holder('mia')
    const first = await given(await asked(mia))
    await endsIn(first, 40)
    const visitor = await at(mia)
    expect((await visitor.get('/access')).text).toMatch(/40 days left[\s\S]*Ask to extend/)
    const { text } = await visitor.get(formAt())
    expect(text).toMatch(/You have it until <time[^>]*>[^<]+<\/time>\. Only lengths that end later/)
    expect(text).not.toContain('value="30 days"')
    expect(text).toContain('value="90 days"')
    const short = await visitor.post('/access/request', { why: 'More', access_length: '30 days' })
    expect(short.status).toBe(422)
    expect(short.text).toContain('would end no later. Choose a longer time.')
    expect(short.text).toContain('More</textarea>')
    const sent = await visitor.post('/access/request', { why: 'More', access_length: '90 days' })
    expect(sent.status).toBe(303)
    const { body } = await core.call('GET', '/appstore/access_requests', { token: mia.token })
    const second: string = body.items.find((one: { id: string }) => one.id !== first).id

    // The approver and the person who provisions it by hand see that the access exists already.
    const { id: decision } = await acme.openTask(second)
    const decider = (await (await signedIn(core, boss.token)).get(`/inbox/${decision}`)).text
    expect(decider).toMatch(
      /Has it now, until <time[^>]*>[^<]+<\/time>; asks for it again, for 90 days/,
    )
    expect(decider).not.toContain('Has not had it before')
    await acme.settle(second, 'complete')
    await acme.reaches(second, 'PENDING_MANUAL_PROVISIONING')
    const { id: work } = await acme.openTask(second)
    const adminPage = (await (await signedIn(core)).get(`/inbox/${work}`)).text
    expect(adminPage).toMatch(/mia Test has Editor in Atelier already, until <time/)
    expect(adminPage).toContain('Now it is to stay for 90 days, from today.')
    await acme.settle(second, 'complete')
    await acme.reaches(second, 'COMPLETED')

    const held = (await visitor.get('/access')).text
    expect(held.split('<strong class="wrap">Editor</strong>')).toHaveLength(2)
    expect(held).toContain('90 days left')
    expect(held).not.toContain('40 days left')
    expect((await visitor.post(`/access/requests/${second}/give-back`)).status).toBe(303)
    // The access is removed by hand only once.
    await until('one access is revoked and the other waits for manual work', async () => {
      const states = await Promise.all([first, second].map(acme.statusOf))
      return states.sort().join() === 'PENDING_MANUAL_DEPROVISIONING,REVERTED' ? states : null
    })
  })

  test('is not given back if a policy gives the access, too', async () => {
    const noa = await holder('noa')
    const first = await given(await asked(noa))
    await endsIn(first, 40)
    const second = await given(await asked(noa))
    const [policy] = await core.db
      .insert(accessPolicies)
      .values({
        ...{ domainId: await domainOf(core.db), name: 'Editors', businessJustification: 'All' },
        ...{ status: 'DRAFT', isEnabled: false, isEveryone: false, apps: [] },
      })
      .returning()
    await core.db
      .update(accessRequests)
      .set({ policyId: policy?.id ?? null })
      .where(eq(accessRequests.id, first))
    const visitor = await at(noa)
    expect((await visitor.post(`/access/requests/${second}/give-back`)).status).toBe(409)
    expect(await Promise.all([first, second].map(acme.statusOf))).toEqual([
      'COMPLETED',
      'COMPLETED',
    ])
  })
})

test('a request by a policy names the policy instead of a person, and does not offer to ask again', async () => {
  const noor = await person(core.db, 'noor@example.com')
  const id = await acme.asked(noor, { app_id: appId })
  const domainId = await domainOf(core.db)
  const [policy] = await core.db
    .insert(accessPolicies)
    .values({
      ...{ domainId, name: 'Readers <all>', businessJustification: 'All' },
      ...{ status: 'DRAFT', isEnabled: false, isEveryone: false, apps: [] },
    })
    .returning()
  const of = (policyId: string | null) =>
    core.db
      .update(accessRequests)
      .set({ requesterId: null, policyId, status: 'DENIED', notes: { DENIED: 'A rule says no' } })
      .where(eq(accessRequests.id, id))
  await of(policy?.id ?? null)
  await core.db.delete(tasks).where(eq(tasks.accessRequestId, id))
  const visitor = await at(noor)
  const admin = await signedIn(core)
  for (const page of ['/access', `/access/requests/${id}`]) {
    const { text } = await visitor.get(page)
    expect(text).toContain('The policy “Readers &lt;all&gt;” asked for you')
    expect(text).not.toContain('You asked')
    expect(text).not.toContain('Ask again')
  }
  expect((await admin.get(`/access/requests/${id}`)).text).toContain(
    'The policy “Readers &lt;all&gt;” asked for noor Test',
  )
  const list = '/console/requests?status=DENIED'
  expect((await admin.get(list)).text).toContain('asked by the policy “Readers &lt;all&gt;”')
  await of(null)
  const german = { headers: { 'accept-language': 'de' } }
  expect((await visitor.get('/access', german)).text).toContain(
    'Eine Richtlinie hat für Sie die Anfrage gestellt',
  )
  expect((await admin.get(list, german)).text).toContain('angefragt durch eine Richtlinie')
})

test('access that Keyway did not give is folded below the rest, with its count', async () => {
  const una = await person(core.db, 'una@example.com')
  const groupId = await group(core.db, 'Book club', [una])
  const domainId = await domainOf(core.db)
  await core.db
    .insert(memberSpans)
    .values({ domainId, groupId, userId: una.id, since: new Date(Date.now() - 60_000) })
  const { text } = await (await at(una)).get('/access')
  expect(text).toMatch(/<summary>Not given by Keyway \(1\)<\/summary>[\s\S]*Book club/)
})

test('emergency access is offered to people who may take it, taken by a form, and marked as such', async () => {
  const path = '/access/break-glass'
  const root = await acme.group(appId, 'root', 'Root')
  const stranger = await at(boss)
  const body = { group_ids: [await group(core.db, 'On call', [ada])], max_minutes: 60 }
  expect((await core.call('PUT', `/break_glass/${root}`, { body })).status).toBe(200)
  expect((await stranger.get('/access')).text).not.toContain(path)
  expect((await stranger.get(path)).text).toContain('Nothing here for you')

  const visitor = await at(ada)
  expect((await visitor.get('/access')).text).toContain(path)
  expect((await visitor.get(path)).text).toMatch(/Root[\s\S]*1 hour/)
  for (const [wrong, said] of [
    [{ reason: '' }, 'Say why it cannot wait'],
    [{ minutes: 'two' }, 'as a whole number'],
    [{ minutes: '61' }, 'at most 60'],
    [{ id: '' }, 'Choose what you need'],
  ] as const) {
    const [field = ''] = Object.keys(wrong)
    const given = { id: root, minutes: '', reason: 'The site is down', ...wrong }
    const refused = await visitor.post(path, given)
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(said)])
    const [, link] = /<span id="not-given"><a href="#(\w+)">/.exec(refused.text) ?? []
    expect(link, 'the words lead to the field').toBe(field)
    const marked = [...refused.text.matchAll(/<(\w+)[^>]* aria-invalid="true"[^>]*>/g)]
    expect(marked).toHaveLength(1)
    expect(marked[0]?.[0]).toMatch(/ aria-describedby="not-given[ "]/)
    expect(marked[0]?.[0]).toContain(field === 'id' ? '<fieldset' : ` name="${field}"`)
  }
  const taken = await visitor.post(path, { id: root, minutes: '30', reason: 'The site is down' })
  expect([taken.status, taken.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\/access\/requests\/[0-9a-f-]{36}$/),
  ])
  const shown = await visitor.get(taken.headers.get('location') ?? '')
  expect(shown.text).toContain('Taken as emergency access')
  expect(shown.text).toContain('boss Test reviews this use')
  expect((await visitor.post(path, { id: root, minutes: '', reason: 'Again' })).status).toBe(409)

  const { body: tasks } = await core.call('GET', '/tasks?task_type=BREAK_GLASS_REVIEW', {
    token: boss.token,
  })
  const inbox = `/inbox/${tasks.items[0].id}`
  const seen = await stranger.get(inbox)
  expect(seen.text).toContain('Review the break-glass use of “Root” in Data Warehouse')
  const skipped = await stranger.post(inbox, { action_type: 'approve', reason: '' })
  expect([skipped.status, skipped.text]).toEqual([
    400,
    expect.stringContaining('what the review found'),
  ])
  const reviewed = await stranger.post(inbox, { action_type: 'approve', reason: 'It was down' })
  expect(reviewed.status).toBe(303)
  const after = await visitor.get(taken.headers.get('location') ?? '')
  expect(after.text).toContain('boss Test reviewed this use')
})

test('markup in the name of an app is escaped', async () => {
  const odd = '<script>alert(1)</script>"\'\u202e'
  await acme.inStore(await app(core.db, odd))
  const visitor = await at(ada)
  const { text } = await visitor.get(`/access?q=${encodeURIComponent('<script>')}`)
  expect(text).not.toContain('<script>alert')
  expect(text).toContain('&lt;script&gt;alert(1)')
})

test.each(['\u202e', '\u202b', '\u2066'])(
  'a bidirectional control character is removed from a name: %j',
  async (turn) => {
    const name = `Ledger ${turn}secret`
    await acme.inStore(await app(core.db, name))
    const { text } = await (await at(ada)).get('/access?q=ledger')
    expect(text).toContain('Ledger secret')
    expect(text).not.toContain(turn)
  },
)

describe('a reminder', () => {
  const backdate = (id: string) =>
    core.db.execute(sql`update tasks set created_at = created_at - interval '2 days'
      where access_request_id = ${id}`)
  const remindAt = (id: string) => `/access/requests/${id}/remind`

  test('is a comment for the approvers, is sent once a day at most, and is logged', async () => {
    const id = await acme.asked(ada, { app_id: appId })
    await acme.openTask(id)
    const visitor = await at(ada)
    expect((await visitor.get(`/access/requests/${id}`)).text).not.toContain(remindAt(id))
    expect((await visitor.post(remindAt(id), {})).status).toBe(409)
    await backdate(id)
    expect((await visitor.get('/access')).text).toContain(remindAt(id))
    const sent = await visitor.post(remindAt(id), { comment: 'Needed on <i>Friday</i>' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/access#waiting'])
    expect((await visitor.get('/access')).text).not.toContain(remindAt(id))
    expect((await visitor.post(remindAt(id), {})).status).toBe(409)
    const task = await acme.openTask(id)
    const inbox = await (await at(boss)).get(`/inbox/${task.id}`)
    expect(inbox.text).toContain('Needed on &lt;i&gt;Friday&lt;/i&gt;')
    const events = (await lastEvents(core, 10)).map(([event]) => event)
    expect(events).toContain('TASK_REMINDED')
  })

  test('can be sent only by the person who waits', async () => {
    const id = await acme.asked(ada, { app_id: appId })
    await acme.openTask(id)
    await backdate(id)
    const other = await person(core.db, 'other@example.com')
    const remind = (token: string) =>
      core.call('POST', `/appstore/access_requests/${id}/remind`, {
        ...{ token, body: { comment: 'Now' } },
      })
    expect((await remind(other.token)).status).toBe(404)
    expect(
      (
        await core.call('POST', `/appstore/access_requests/${id}/remind`, {
          body: { comment: 'Now' },
        })
      ).status,
    ).toBe(403)
    expect((await remind(ada.token)).status).toBe(204)
  })
})

describe('my data', () => {
  const PATH = '/settings/my-data'

  test('is shown and downloaded by a form, and the export is logged', async () => {
    const eve = await person(core.db, 'mine@example.com')
    await acme.asked(eve, { app_id: appId, business_justification: 'My reason' })
    const visitor = await at(eve, PATH)
    const before = await visitor.get(PATH)
    expect(before.text).not.toContain('mine@example.com&quot;')
    const shown = await visitor.post(PATH, {})
    expect(shown.text).toContain('mine@example.com&quot;')
    const sent = await visitor.post(`${PATH}/download`, {})
    expect(sent.headers.get('content-disposition')).toContain('attachment')
    const data = JSON.parse(sent.text)
    expect(data.person.email).toBe('mine@example.com')
    expect(Object.keys(data.tables).sort()).toEqual(
      expect.arrayContaining([
        'access_requests',
        'activity_logs',
        'api_tokens',
        'sessions',
        'users',
      ]),
    )
    expect(sent.text).toContain('My reason')
    expect(data.tables.api_tokens[0]).not.toHaveProperty('hash')
    const did = data.tables.activity_logs.map((one: { event_type: string }) => one.event_type)
    expect(did).toContain('PERSON_EXPORTED')
  })

  test("contains no other person's rows", async () => {
    await acme.asked(ada, { app_id: appId })
    const { status, body } = await core.call('POST', '/users/current/export', { token: boss.token })
    expect(status).toBe(200)
    expect(body.tables.users).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain('ada@example.com')
  })

  test('is exported only a limited number of times', async () => {
    const often = await person(core.db, 'often@example.com')
    const statuses: number[] = []
    for (let at = 0; at <= CALLER_LIMITS.own_exports.most; at += 1)
      statuses.push(
        (await core.call('POST', '/users/current/export', { token: often.token })).status,
      )
    expect(statuses.slice(0, -1).every((one) => one === 200)).toBe(true)
    expect(statuses.at(-1)).toBe(429)
  })

  test('is exported only a limited number of times, also by concurrent requests', async () => {
    const { token } = await person(core.db, 'greedy@example.com')
    const { most } = CALLER_LIMITS.own_exports
    const replies = await Promise.all(
      Array.from({ length: most + 4 }, () => core.call('POST', '/users/current/export', { token })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: most }, () => 200),
      ...[429, 429, 429, 429],
    ])
  })
})

test('the catalogue is filtered by category, with category names in the language of the page', async () => {
  const eve = await at(await person(core.db, 'filter@example.com'))
  for (const [name, category] of [
    ['Payroll', 'HR & Learning'],
    ['Firewall', 'IT & Security'],
  ] as const) {
    const id = await acme.inStore(await app(core.db, name))
    await core.db.update(apps).set({ overrides: { category } }).where(eq(apps.id, id))
  }
  const { text } = await eve.get('/access?category=IT+%26+Security')
  expect(text).toContain('>Firewall</a>')
  expect(text).not.toContain('>Payroll</a>')
  expect(text).toContain('<option value="IT &amp; Security" selected>IT &amp; Security</option>')
  const german = await eve.get('/access', { headers: { 'accept-language': 'de' } })
  expect(german.text).toContain('<option value="IT &amp; Security">IT &amp; Sicherheit</option>')
  const none = await eve.get('/access?category=nothing')
  expect(none.text).toContain('No app matches your search.')
})

test('the search form of the top bar targets the catalogue', async () => {
  const { text } = await (await at(ada)).get('/inbox')
  expect(text).toContain('<form class="find" role="search" action="/access#catalogue">')
})

test('a search without a hit says so, and an invalid page number is accepted', async () => {
  const visitor = await at(ada)
  expect((await visitor.get('/access?q=nothing-of-it')).text).toContain('Nothing found')
  for (const page of ['0', '-1', 'x', '99999999', '%00'])
    expect((await visitor.get(`/access?page=${page}&have=${page}`)).status, page).toBe(200)
})

test('signing out everywhere ends all sessions of the person, and no others', async () => {
  const kim = await person(core.db, 'kim@example.com')
  const [one, two, other] = [await at(kim), await at(kim), await at(ada)]
  expect((await one.post('/sign-out/everywhere')).status).toBe(303)
  expect((await two.get('/access')).status).toBe(303)
  expect((await other.get('/access')).status).toBe(200)
})

test('signing out ends the session', async () => {
  const visitor = await at(ada)
  await visitor.post('/sign-out')
  expect((await visitor.get('/access')).status).toBe(303)
})
