import { and, eq, isNull } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTokenHasher } from '../../../runtime/core/kernel/identity/token-hasher.ts'
import { createToken } from '../../../runtime/core/kernel/identity/tokens.ts'
import { apiTokens } from '../../../runtime/database/schema/people.ts'
import {
  type CoreHost,
  otherDomain,
  type Person,
  person,
  SECRET,
  startCore,
} from '../../core/host.ts'
import { shownToken, signedIn, type Visitor, visit } from './visitor.ts'

const PAGE = '/settings/api-tokens'

let core: CoreHost
let ada: Person
let bob: Person
let stranger: Person
let visitor: Visitor

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'ada@example.com')
  bob = await person(core.db, 'bob@example.com')
  stranger = await person(core.db, 'stranger@example.com', [], await otherDomain(core.db))
  visitor = await signedIn(core, ada.token)
})
afterAll(() => core.stop())

const rowsOf = ({ id }: Person) =>
  core.db.select().from(apiTokens).where(eq(apiTokens.userId, id)).orderBy(apiTokens.createdAt)

const logOf = async () => {
  const { body } = await core.call('GET', '/activity_logs?limit=100')
  expect(body.total).toBeLessThanOrEqual(100)
  return body.items as { event_type: string; targets: { id: string; name: string }[] }[]
}

/** Makes a token as a person does: opens the page, sends its form. */
async function make(fields: Record<string, string> = {}, who = visitor) {
  await who.get(PAGE)
  return who.post(PAGE, { name: 'made', ...fields })
}

const today = () => new Date().toISOString().slice(0, 10)
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
const yesterday = () => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

describe('a token', () => {
  test('is shown once, works, and is listed with its details', async () => {
    const seen = await make({ name: 'nightly', description: 'kept in the vault', expires: today() })
    expect(seen.status).toBe(200)
    const token = shownToken(seen.text) ?? ''
    const current = await core.call('GET', '/users/current', { token })
    expect(current).toMatchObject({ status: 200, body: { email: 'ada@example.com' } })

    const { text } = await visitor.get(PAGE)
    expect(text).not.toContain(token)
    expect(text).toContain(`<code>${token.slice(0, 12)}…</code>`)
    const row = text.split('<tr').find((one) => one.includes('>nightly<')) ?? ''
    expect(row).toContain('kept in the vault')
    expect(row).toContain('read and write')
    expect(row).toMatch(new RegExp(`datetime="${today()}T23:59:59.999Z">[^<]* 23:59 UTC`))
    // Created, used just now, expires.
    expect(row.match(/<time /g)).toHaveLength(3)
    const [kept] = (await rowsOf(ada)).filter(({ name }) => name === 'nightly')
    expect(`${kept?.hash.toString('latin1')}${JSON.stringify(kept)}`).not.toContain(token)
  })

  test('that is read-only can read, but not change anything', async () => {
    const admin = await person(core.db, 'boss@example.com', ['Admin'])
    const boss = await signedIn(core, admin.token)
    const token = shownToken((await make({ read_only: 'yes' }, boss)).text) ?? ''
    expect((await core.call('GET', '/users', { token })).status).toBe(200)
    const role = `/users/${bob.id}/roles/Auditor`
    expect((await core.call('POST', role, { token })).status).toBe(403)
  })

  test('is created once by a form that is sent twice, and not shown the second time', async () => {
    const first = await make({ name: 'once' })
    await visitor.get(PAGE)
    const form = /name="form_id" value="([^"]+)"/.exec((await visitor.get(PAGE)).text)?.[1] ?? ''
    const sent = { name: 'twice', form_id: form }
    const made = await visitor.post(PAGE, sent)
    const again = await visitor.post(PAGE, sent)
    expect([first.status, made.status, again.status]).toEqual([200, 200, 409])
    expect(again.text).toContain('This form was sent before')
    expect(shownToken(again.text)).toBeNull()
    expect((await rowsOf(ada)).filter(({ name }) => name === 'twice')).toHaveLength(1)
  })

  test('is created once by a form that is sent many times concurrently', async () => {
    await visitor.get(PAGE)
    const form = '11111111-1111-4111-8111-111111111111'
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => visitor.post(PAGE, { name: 'storm', form_id: form })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    expect(answers.filter(({ text }) => shownToken(text) !== null)).toHaveLength(1)
    expect((await rowsOf(ada)).filter(({ name }) => name === 'storm')).toHaveLength(1)
    // The same form id of another person is a different form.
    const other = await signedIn(core, bob.token)
    expect((await other.post(PAGE, { name: 'mine', form_id: form })).status).toBe(200)
  })

  test('is logged when it is created and when it is revoked, without its text', async () => {
    const token = shownToken((await make({ name: 'logged' })).text) ?? ''
    const row = (await rowsOf(ada)).find(({ name }) => name === 'logged')
    for (const _twice of [1, 2]) await visitor.post(`${PAGE}/${row?.id}/revoke`)
    const log = await logOf()
    const own = log.filter(({ targets }) => targets.some(({ id }) => id === row?.id))
    expect(own).toMatchObject([
      {
        event_type: 'API_TOKEN_CREATED',
        actor: { email: 'ada@example.com' },
        targets: [{ target_type: 'API token', name: 'logged' }],
        event_metadata: { read_only: false, expires_at: null },
      },
      { event_type: 'API_TOKEN_REVOKED', targets: [{ name: 'logged' }] },
    ])
    expect(JSON.stringify(log)).not.toContain(token)
    expect(JSON.stringify(log)).not.toContain(token.slice(0, 12))
  })

  test('may have a name with markup, which is escaped', async () => {
    const name = '<script>alert(1)</script>"\'&'
    const { text } = await make({ name, description: `${name}</textarea>` })
    expect(text).not.toContain('<script>alert')
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;')
  })
})

describe('the form of a new token', () => {
  test.each([
    ['no name', { name: '' }, 'name', 'Enter a name'],
    ['a name of spaces', { name: '  \t ' }, 'name', 'Enter a name'],
    ['a long name', { name: 'n'.repeat(101) }, 'name', 'at most 100'],
    ['a name with NUL', { name: 'a\u0000b' }, 'name', 'control characters'],
    ['a name of two lines', { name: 'a\nb' }, 'name', 'in one line'],
    ['a long description', { description: 'd'.repeat(1001) }, 'description', 'at most 1000'],
    ['a description with NUL', { description: '\u0000' }, 'description', 'control characters'],
    ['a day in the past', { expires: yesterday() }, 'expires', 'Choose today or a later day'],
    ['a day that does not exist', { expires: '2031-02-31' }, 'expires', 'Write the day as'],
    ['a day in another form', { expires: '31.12.2030' }, 'expires', 'Write the day as'],
    ['a word instead of a day', { expires: 'soon' }, 'expires', 'Write the day as'],
    ['a year with six digits', { expires: '+275760-09-13' }, 'expires', 'Write the day as'],
  ])('with %s is refused at its field', async (_what, fields, field, words) => {
    const before = await rowsOf(ada)
    const { status, text } = await make({ description: 'keep <me>', ...fields })
    expect(status).toBe(422)
    expect(text).toContain('<title>Error: API tokens')
    const summary = new RegExp(`<a href="#${field}">[^<]*${words}`)
    expect(text).toMatch(summary)
    expect(text).toMatch(new RegExp(`id="${field}-problem" class="error problem">.*${words}`))
    expect(text).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`))
    if (!('description' in fields)) expect(text).toContain('keep &lt;me&gt;</textarea>')
    expect(await rowsOf(ada)).toEqual(before)
  })

  test('accepts the longest texts, with line ends counted as browsers do', async () => {
    const description = `${'\r\n'.repeat(400)}${'€'.repeat(600)}`
    const { status } = await make({
      name: '€'.repeat(100),
      description: `x${description.slice(2)}`,
    })
    expect(status).toBe(200)
    const kept = (await rowsOf(ada)).find(({ name }) => name === '€'.repeat(100))
    expect(kept?.description).toHaveLength(1000)
  })

  test.each([
    ['another media type', { headers: { 'content-type': 'application/json' }, raw: '{}' }, 415],
    ['no media type', { headers: { 'content-type': '' }, raw: 'name=x' }, 415],
    ['escaped bytes that are not UTF-8', { raw: 'name=%FF' }, 400],
    ['raw bytes that are not UTF-8', { raw: new Uint8Array([110, 61, 255]) }, 400],
    ['a broken escape', { raw: 'name=%zz' }, 400],
    ['a body that is too large', { raw: `name=${'x'.repeat(70_000)}` }, 413],
    ['an empty body', { raw: '' }, 403],
  ])('sent with %s is refused', async (_what, sending, status) => {
    const before = await rowsOf(ada)
    const seen = await visitor.post(PAGE, {}, sending)
    expect(seen.status).toBe(status)
    expect(seen.headers.get('content-type')).toMatch(/^text\/html/)
    expect(await rowsOf(ada)).toEqual(before)
  })

  test('without a valid form id is refused', async () => {
    expect((await make({ form_id: 'x' })).status).toBe(400)
  })

  test('is refused beyond the limit of tokens', async () => {
    const many = await person(core.db, 'many@example.com')
    const [row] = await rowsOf(many)
    const hasher = createTokenHasher([SECRET])
    const { domainId = '' } = row ?? {}
    const one = { userId: many.id, domainId, name: 'n', description: '', readOnly: false }
    for (let n = 2; n < 100; n += 1) await createToken(core.db, hasher, { ...one, expiresAt: null })
    const collector = await signedIn(core, many.token)
    expect(shownToken((await make({}, collector)).text)).toBeNull()
    expect((await make({}, collector)).status).toBe(409)
    const [first] = (await rowsOf(many)).filter(({ name }) => name === 'n')
    await collector.post(`${PAGE}/${first?.id}/revoke`)
    expect((await make({ name: 'room' }, collector)).status).toBe(200)
    expect(await rowsOf(many)).toHaveLength(101)
  })
})

describe('revoking', () => {
  test('stops the token at once, says so, and may be repeated', async () => {
    const token = shownToken((await make({ name: 'short-lived' })).text) ?? ''
    const row = (await rowsOf(ada)).find(({ name }) => name === 'short-lived')
    const revoked = await visitor.post(`${PAGE}/${row?.id}/revoke`)
    expect(revoked.status).toBe(303)
    expect((await core.call('GET', '/users/current', { token })).status).toBe(401)
    const { text } = await visitor.get(revoked.headers.get('location') ?? '')
    expect(text).toContain('“short-lived” is revoked.')
    expect((await visitor.post(`${PAGE}/${row?.id}/revoke`)).status).toBe(303)
    const now = (await rowsOf(ada)).find(({ name }) => name === 'short-lived')
    expect(now?.revokedAt).toBeInstanceOf(Date)
  })

  test('answers 404 for tokens of others and for unknown ids', async () => {
    const [others] = await rowsOf(bob)
    const [foreign] = await rowsOf(stranger)
    const unknown = '00000000-0000-4000-8000-000000000000'
    for (const id of [others?.id, foreign?.id, unknown, 'x', "';--", '%00', '..%2F..']) {
      const seen = await visitor.post(`${PAGE}/${id}/revoke`)
      expect([id, seen.status]).toEqual([id, 404])
      expect(seen.text).toContain('<h1 id="h-said">Not found</h1>')
    }
    expect((await core.call('GET', '/users/current', { token: bob.token })).status).toBe(200)
  })

  test('the token of the current session signs out', async () => {
    const { token } = await person(core.db, 'leaving@example.com')
    const leaver = await signedIn(core, token)
    const { text } = await leaver.get(PAGE)
    const row = text.split('<tr').find((one) => one.includes('you are signed in')) ?? ''
    const [, action = ''] = /action="([^"]+)"/.exec(row) ?? []
    await leaver.post(action)
    expect((await leaver.get(PAGE)).status).toBe(303)
  })
})

describe('the list', () => {
  test('contains only the tokens of the caller', async () => {
    await make({ name: 'only-of-ada' })
    const other = await signedIn(core, bob.token)
    expect((await other.get(PAGE)).text).not.toContain('only-of-ada')
  })

  test('does not report an unknown or a valid token as revoked', async () => {
    const [own] = await core.db
      .select()
      .from(apiTokens)
      .where(and(eq(apiTokens.userId, ada.id), isNull(apiTokens.revokedAt)))
    for (const id of ['<b>', own?.id])
      expect((await visitor.get(`${PAGE}?revoked=${id}`)).text).not.toContain('is revoked.')
  })

  test('marks expired tokens', async () => {
    await make({ name: 'gone-by' })
    await core.db
      .update(apiTokens)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(and(eq(apiTokens.userId, ada.id), eq(apiTokens.name, 'gone-by')))
    const { text } = await visitor.get(PAGE)
    const row = text.split('<tr').find((one) => one.includes('gone-by')) ?? ''
    expect(row).toContain('Expired')
    expect(row).not.toContain('<form')
  })
})

test('a session of a read-only token can view the tokens, but change nothing', async () => {
  const reader = await signedIn(core, ada.readOnlyToken)
  const { text } = await reader.get(PAGE)
  expect(text).toContain('you can look at your tokens')
  expect(text).not.toContain(`action="${PAGE}`)
  const [own] = await rowsOf(ada)
  const before = await rowsOf(ada)
  const form = { name: 'x', form_id: '22222222-2222-4222-8222-222222222222' }
  for (const path of [PAGE, `${PAGE}/${own?.id}/revoke`]) {
    const seen = await reader.post(path, form)
    expect(seen.status).toBe(403)
    expect(seen.text).toContain('read-only token')
  }
  expect(await rowsOf(ada)).toEqual(before)
})

test('a session of a token that expires cannot create a token that lasts longer', async () => {
  const made = await make({ name: 'short', expires: tomorrow() })
  const short = await signedIn(core, shownToken(made.text) ?? '')
  const longer = await make({ name: 'longer' }, short)
  expect([longer.status, longer.text]).toEqual([422, expect.stringContaining(tomorrow())])
  expect((await make({ name: 'longer', expires: '2999-01-01' }, short)).status).toBe(422)
  expect((await rowsOf(ada)).map(({ name }) => name)).not.toContain('longer')
  expect((await make({ name: 'as long', expires: tomorrow() }, short)).status).toBe(200)
})

describe('without a session', () => {
  test.each([
    ['GET', PAGE],
    ['POST', PAGE],
    ['POST', `${PAGE}/x/revoke`],
    ['POST', '/settings/sign-out'],
  ])('%s %s redirects to the sign-in page', async (method, path) => {
    const nobody = visit(core)
    nobody.cookies.set('keyway_session', 'kws_made-up-but-long-enough')
    const seen = await (method === 'GET' ? nobody.get(path) : nobody.post(path))
    expect([seen.status, seen.headers.get('location')]).toEqual([303, '/settings/sign-in'])
  })
})

describe('a form of a session', () => {
  const paths = async () => {
    const [own] = await rowsOf(ada)
    return [PAGE, `${PAGE}/${own?.id}/revoke`, '/settings/sign-out']
  }

  test.each([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another port', { 'sec-fetch-site': 'same-site', origin: 'http://localhost' }],
    ['from another origin', { origin: 'https://evil.example' }],
  ])('%s is refused, even if everything else is valid', async (_what, headers) => {
    const before = await rowsOf(ada)
    for (const path of await paths()) {
      await visitor.get(PAGE)
      expect((await visitor.post(path, { name: 'forged' }, { headers })).status).toBe(403)
    }
    expect(await rowsOf(ada)).toEqual(before)
    expect((await visitor.get(PAGE)).status).toBe(200)
  })

  test.each(['', 'x', 'A'.repeat(43)])('with the proof %o is refused', async (proof) => {
    const before = await rowsOf(ada)
    for (const path of await paths()) {
      await visitor.get(PAGE)
      const seen = await visitor.post(path, { name: 'forged', form_token: proof })
      expect(seen.status).toBe(403)
    }
    expect(await rowsOf(ada)).toEqual(before)
  })

  test('with the proof of another session of the same user is refused', async () => {
    const other = await signedIn(core, ada.token)
    const [, proof = ''] =
      /name="form_token" value="([^"]+)"/.exec((await other.get(PAGE)).text) ?? []
    expect((await make({ form_token: proof })).status).toBe(403)
  })
})

describe('every answer', () => {
  test.each([
    ['GET', '/settings/sign-in', 200],
    ['GET', PAGE, 200],
    ['GET', '/settings', 303],
    ['GET', '/settings/nothing', 404],
    ['DELETE', PAGE, 405],
    ['GET', '/settings/sign-out', 405],
    ['GET', `${PAGE}/x/revoke`, 405],
  ])('to %s %s is %i with a strict content security policy', async (method, path, status) => {
    const cookie = `keyway_session=${visitor.cookies.get('keyway_session')}`
    const headers = { host: 'localhost', cookie }
    const reply = await core.host.app.request(path, { method, headers })
    expect(reply.status).toBe(status)
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
  })

  test('has no inline scripts or styles', async () => {
    for (const path of ['/settings/sign-in', PAGE]) {
      const { text } = await visitor.get(path)
      expect(text.match(/<script[^>]*>[^<]*/g)).toEqual(['<script src="/assets/keyway.js" defer>'])
      expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|https?:\/\//)
    }
  })

  test('labels every field, and has a target for every reference', async () => {
    const failed = await make({ name: '' })
    for (const { text } of [failed, await make(), await visitor.get('/settings/sign-in')]) {
      const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
      expect(new Set(ids).size).toBe(ids.length)
      const named = [...text.matchAll(/<label [^>]*?for="([^"]+)"/g)].map(([, id]) => id)
      const fields = [...text.matchAll(/<(?:input|textarea) id="([^"]+)"/g)].map(([, id]) => id)
      expect(named.sort()).toEqual(fields.sort())
      const references = [...text.matchAll(/(?:aria-\w+by|href)="#?([\w -]+)"/g)]
      for (const [, list = ''] of references)
        for (const id of list.split(' ')) expect(ids).toContain(id)
    }
  })
})

test('other interfaces refuse forms', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const seen = await visit(core).post('/connectors/scim/list_accounts', {}, { headers })
  expect(seen.status).toBe(415)
})
