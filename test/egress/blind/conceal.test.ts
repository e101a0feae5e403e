/** Secrets that an upstream echoes are replaced by placeholders; nothing else changes. */
import { afterEach, describe, expect, test } from 'vitest'
import { atOnce } from '../../../runtime/bounded/slices.ts'
import { createConceal } from '../../../runtime/egress/blind/conceal.ts'
import { createSearches } from '../../../runtime/egress/blind/searches.ts'
import { get, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed, withToken } from '../fixtures/secrets.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const SECRET = 'p@ss "wörd"/+& <é>'
const { body, headers } = createConceal(() => [{ value: SECRET, instead: 'PLACE' }])
const room = { maxBytes: 1024, hold: () => {} }
const through = async (text: string) => `${await body(Buffer.from(text), room)}`
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('a secret in a body is replaced', () => {
  test.each([
    ['as it is', SECRET],
    ['percent-encoded', encodeURIComponent(SECRET)],
    ['percent-encoded as a form', new URLSearchParams({ a: SECRET }).toString().slice(2)],
    ['encoded for a URL', encodeURI(SECRET)],
    ['in JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(SECRET)).slice(3, -3)],
    ['in JSON as PHP writes it', JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/')],
    [
      'in HTML',
      SECRET.replace('&', '&amp;')
        .replaceAll('"', '&quot;')
        .replace('<', '&lt;')
        .replace('>', '&gt;'),
    ],
  ])('%s', async (_name, form) => {
    expect(await through(`é ${form}, ${form}`)).toBe('é PLACE, PLACE')
  })

  test.each([
    ['base64', base64(SECRET), base64('PLACE')],
    [
      'base64 without padding',
      base64(SECRET).replace(/=+$/, ''),
      base64('PLACE').replace(/=+$/, ''),
    ],
    [
      'base64url',
      Buffer.from(SECRET).toString('base64url'),
      Buffer.from('PLACE').toString('base64url'),
    ],
  ])('in %s, by its placeholder in the same encoding', async (_name, form, instead) => {
    expect(await through(`a ${form} b`)).toBe(`a ${instead} b`)
  })

  test.each([
    ['a line break in JSON', '\\n'],
    ['an escaped character in JSON', '\\u000a'],
    ['a percent-encoded line break', '%0A'],
    ['a letter outside ASCII', 'é'],
  ])('after %s', async (_name, before) => {
    const conceal = createConceal(() => [{ value: 'secret-of-letters', instead: 'PLACE' }])
    expect(`${await conceal.body(Buffer.from(`x${before}secret-of-letters"`), room)}`).toBe(
      `x${before}PLACE"`,
    )
  })
})

describe('a body keeps', () => {
  const conceal = createConceal(() => [
    { value: 'administrator', instead: 'PLACE' },
    { value: 'short-seven', instead: 'SHORT' },
  ])
  test.each(['administrators', 'xadministrator', '0administrator', 'short-seven', 'Administrator'])(
    '%s, which does not count as a secret',
    async (text) => {
      expect(`${await conceal.body(Buffer.from(text), room)}`).toBe(text)
    },
  )

  test('bytes that are not text, around a replaced secret', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0, 0x80, ...Buffer.from(' administrator '), 0xc3])
    expect(await conceal.body(bytes, room)).toEqual(
      Buffer.from([0xff, 0xfe, 0, 0x80, ...Buffer.from(' PLACE '), 0xc3]),
    )
  })

  test('its buffer, uncopied, when it contains no secret', async () => {
    const bytes = Buffer.from('nothing')
    expect(await conceal.body(bytes, room)).toBe(bytes)
  })
})

test('a secret is replaced in header names and values', async () => {
  const { headers: hide } = createConceal(() => [{ value: 'secret-of-letters', instead: 'PLACE' }])
  expect(
    await hide([
      ['x-secret-of-letters', 'a secret-of-letters'],
      ['b', 'c'],
    ]),
  ).toEqual([
    ['x-PLACE', 'a PLACE'],
    ['b', 'c'],
  ])
  expect(await headers([['a', 'b']])).toEqual([['a', 'b']])
})

test('a secret outside ASCII is also found in Latin-1, in headers and in a body', async () => {
  const conceal = createConceal(() => [{ value: 'ein Geheimnis für dich', instead: 'PLACE' }])
  const echoed = 'x ein Geheimnis für dich'
  expect(await conceal.headers([['x', echoed]])).toEqual([['x', 'x PLACE']])
  expect(`${await conceal.body(Buffer.from(echoed, 'latin1'), room)}`).toBe('x PLACE')
})

test.each([
  ['little-endian', (text: string) => Buffer.from(text, 'utf16le')],
  ['big-endian', (text: string) => Buffer.from(text, 'utf16le').swap16()],
])(
  'a secret in UTF-16 text, %s, is replaced, and the text stays UTF-16',
  async (_name, encoded) => {
    expect(await body(encoded(`é ${SECRET}, ${SECRET}.`), room)).toEqual(encoded('é PLACE, PLACE.'))
  },
)

test('the longest of several secrets is found first, and a secret can be added later', async () => {
  const conceal = createConceal(() => [
    { value: 'longer-than-twelve', instead: 'A' },
    { value: 'longer-than-twelve-too', instead: 'B' },
  ])
  expect(
    `${await conceal.body(Buffer.from('longer-than-twelve-too longer-than-twelve'), room)}`,
  ).toBe('B A')
  conceal.add({ value: 'one-more-of-them', instead: 'C' })
  expect(`${await conceal.body(Buffer.from('one-more-of-them'), room)}`).toBe('C')
})

describe('an echoed secret', () => {
  /** Sends this request, and returns what the guest receives. */
  async function echo(
    secrets: ReturnType<typeof sealed>,
    more: Parameters<typeof get>[1],
    path = '/',
  ) {
    const { port, origin, seen } = await startUpstream((request, response) => {
      const sent = JSON.stringify({
        url: request.url,
        headers: request.headers,
        body: seen.at(-1)?.body,
      })
      response.writeHead(200, { 'x-echo': String(request.headers.authorization ?? '') })
      response.end(sent)
    })
    const client = openEgress({
      egress: [{ url: origin }],
      grants: `acme=127.0.0.1:${port}`,
      call: { secrets },
    })
    const reply = await client.fetch(get(`${origin}${path}`, { method: 'POST', ...more }))
    return { seen, text: `${reply.headers} ${reply.url} ${reply.body}` }
  }

  test('comes back as its placeholder, in headers, query and body', async () => {
    const { secrets, placeholder } = withToken('the-secret-token')
    const { seen, text } = await echo(
      secrets,
      {
        headers: [
          ['authorization', `Bearer ${placeholder}`],
          ['content-type', 'application/json'],
        ],
        body: Buffer.from(JSON.stringify([placeholder])),
      },
      `/?key=${placeholder}`,
    )
    expect(JSON.stringify(seen)).toContain('the-secret-token')
    expect(text).not.toContain('the-secret-token')
    expect(text.split(placeholder)).toHaveLength(6)
  })

  test.each(['jo', 'somebody else'])(
    'in the base64 of Basic comes back as the guest sent it, for %s',
    async (user) => {
      const secrets = sealed({ auth: { basic: { username: 'jo', password: 'the-password' } } })
      const pair = base64(`${user}:${secrets.sealed.auth?.basic?.password}`)
      const { seen, text } = await echo(secrets, { headers: [['authorization', `Basic ${pair}`]] })
      expect(seen[0]?.headers['authorization']).toBe(`Basic ${base64(`${user}:the-password`)}`)
      expect(text).toContain(pair)
      expect(text).not.toContain(base64(`${user}:the-password`))
    },
  )

  test('in a Location reaches the target, and the URL of the reply shows its placeholder', async () => {
    const { secrets, placeholder } = withToken('the-secret-token')
    const { port, origin, seen } = await startUpstream((request, response) => {
      if (request.url?.startsWith('/a'))
        response.writeHead(302, { location: `/b?${request.url.split('?')[1]}` })
      response.end()
    })
    const client = openEgress({
      egress: [{ url: origin }],
      grants: `acme=127.0.0.1:${port}`,
      call: { secrets },
    })
    const reply = await client.fetch(get(`${origin}/a?key=${placeholder}`))
    expect(seen[1]?.path).toBe('/b?key=the-secret-token')
    expect(reply.url).toBe(`${origin}/b?key=${placeholder}`)
  })

  test('in a Location is refused when the target may not receive secrets', async () => {
    const target = await startUpstream((_request, response) => response.end())
    const { secrets, placeholder } = withToken('the-secret-token')
    const { port, origin } = await startUpstream((request, response) => {
      response.writeHead(302, { location: `${target.origin}/?${request.url?.split('?')[1]}` })
      response.end()
    })
    const client = openEgress({
      egress: [{ url: origin }, { url: target.origin, secrets: [] }],
      grants: `acme=127.0.0.1:${port} acme=127.0.0.1:${target.port}`,
      call: { secrets },
    })
    await expect(client.fetch(get(`${origin}/a?key=${placeholder}`))).rejects.toMatchObject({
      code: 'egress_secret',
    })
    expect(target.seen).toEqual([])
  })

  test('is left as it is when the guest knows the value anyway, and in replies of OAuth', async () => {
    const same = sealed({
      auth: { basic: { username: 'administrator', password: 'administrator' } },
    })
    expect((await echo(same, { headers: [['x', 'administrator']] })).text).toContain(
      'administrator',
    )
    const { secrets, placeholder } = withToken('the-refresh-token')
    const { text } = await echo({ ...secrets, conceals: false }, { headers: [['x', placeholder]] })
    expect(text).toContain('the-refresh-token')
  })
})

describe('the search for secrets', () => {
  const sought = (latin1: string) => [{ symbols: Buffer.from(latin1), latin1, number: 1 }]

  test('is cached for the same texts, and for no others', () => {
    const searchFor = createSearches()
    const first = atOnce(searchFor(sought('tell-nobody')))
    expect(atOnce(searchFor(sought('tell-nobody')))).toBe(first)
    expect(atOnce(searchFor(sought('tell-nobodz')))).not.toBe(first)
    const other = sought('tell-nobody').map((one) => ({ ...one, number: 2 }))
    expect(atOnce(searchFor(other))).not.toBe(first)
  })

  test('is not cached for very long texts', () => {
    const searchFor = createSearches()
    const long = 'x'.repeat(300_000)
    expect(atOnce(searchFor(sought(long)))).not.toBe(atOnce(searchFor(sought(long))))
  })

  test('of a call uses its own placeholder, even after another call with the same secret', async () => {
    for (const instead of ['FIRST', 'OTHER']) {
      const { body } = createConceal(() => [{ value: SECRET, instead }])
      expect(`${await body(Buffer.from(SECRET), room)}`).toBe(instead)
    }
  })
})
