/** Where secrets are put into requests and where they are not, as a real upstream receives them. */
import { afterEach, describe, expect, test } from 'vitest'
import type { EgressRequest } from '../../../runtime/egress/call/call.ts'
import { errorOf, get, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed, withToken } from '../fixtures/secrets.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const TOKEN = 'p@ss "wörd"/+& é'
const JSON_TYPE: [string, string][] = [['content-type', 'application/json']]
const FORM: [string, string][] = [
  ['content-type', 'application/x-www-form-urlencoded;charset=UTF-8'],
]

/** An upstream and a call that may reach it, with this secret. */
async function scene(token = TOKEN, egress: object = {}) {
  const upstream = await startUpstream((_request, response) => response.end('{}'))
  const { secrets, placeholder } = withToken(token)
  const client = openEgress({
    egress: [{ url: upstream.origin, ...egress }],
    grants: `acme=127.0.0.1:${upstream.port}`,
    call: { secrets },
  })
  const send = (path: string, more: Partial<EgressRequest> = {}) =>
    client.fetch(get(`${upstream.origin}${path}`, { method: 'POST', ...more }))
  return { ...upstream, send, placeholder, secrets }
}

describe('a placeholder is replaced by its secret', () => {
  test('in header values', async () => {
    const { send, seen, placeholder } = await scene('latin-1 only é')
    await send('/', {
      headers: [
        ['authorization', `Bearer ${placeholder}`],
        ['x-key', placeholder],
      ],
    })
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer latin-1 only é',
      'x-key': 'latin-1 only é',
    })
  })

  test('in the decoded pair of Basic', async () => {
    const { send, seen, placeholder } = await scene()
    const pair = Buffer.from(`jo:${placeholder}`).toString('base64')
    await send('/', { headers: [['Authorization', `Basic ${pair}`]] })
    const [, sent] = String(seen[0]?.headers['authorization']).split(' ')
    expect(Buffer.from(String(sent), 'base64').toString()).toBe(`jo:${TOKEN}`)
  })

  test('in the query, percent-encoded', async () => {
    const { send, seen, placeholder } = await scene()
    await send(`/?a=1%202&key=${placeholder}&b=x`)
    expect(seen[0]?.path).toBe(`/?a=1%202&key=${encodeURIComponent(TOKEN)}&b=x`)
  })

  test('in an urlencoded form', async () => {
    const { send, seen, placeholder } = await scene()
    const body = Buffer.from(new URLSearchParams({ a: 'ü ', key: placeholder }).toString())
    await send('/', { headers: FORM, body })
    expect([...new URLSearchParams(seen[0]?.body)]).toEqual([
      ['a', 'ü '],
      ['key', TOKEN],
    ])
  })

  test.each(['application/json', 'application/scim+json; charset=utf-8', 'Application/JSON'])(
    'in the strings of a body of %s',
    async (type) => {
      const { send, seen, placeholder } = await scene()
      const value = {
        ü: 'ü',
        n: 12345678901234567890n,
        deep: [{ key: placeholder, at: `x: ${placeholder}\n${placeholder}` }],
      }
      const text = JSON.stringify(value, (_name, one) =>
        typeof one === 'bigint' ? 0 : one,
      ).replace('"n":0', '"n":12345678901234567890')
      await send('/', { headers: [['content-type', type]], body: Buffer.from(text) })
      expect(seen[0]?.body).toContain('"n":12345678901234567890')
      expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
        ü: 'ü',
        deep: [{ key: TOKEN, at: `x: ${TOKEN}\n${TOKEN}` }],
      })
    },
  )

  test('for several credentials, a setting and a key, each by its own placeholder', async () => {
    const { port, origin, seen } = await startUpstream((_request, response) => response.end())
    const secrets = sealed(
      {
        credentials: {
          api: { token: { token: 'of the api' } },
          sa: {
            service_account: {
              key: { client_email: 'a@b', private_key: 'of the key' },
              impersonation_email: '',
              tenant_id: '',
              scopes: [],
              service_type: 'google_cloud',
            },
          },
        },
        settings: { hook: 'of the setting' },
      },
      { hook: { type: 'string', secret: true } },
    )
    const { credentials, settings } = secrets.sealed
    expect(credentials?.['sa']?.service_account?.key).toMatchObject({ client_email: 'a@b' })
    const values = [
      credentials?.['api']?.token?.token,
      credentials?.['sa']?.service_account?.key['private_key'],
      settings['hook'],
    ]
    const client = openEgress({
      egress: [{ url: origin }],
      grants: `acme=127.0.0.1:${port}`,
      call: { secrets },
    })
    await client.fetch(get(origin, { headers: [['x-all', values.join(', ')]] }))
    expect(seen[0]?.headers['x-all']).toBe('of the api, of the key, of the setting')
  })

  test('at every hop of a redirect', async () => {
    const { port, origin, seen } = await startUpstream((request, response) => {
      if (request.url === '/from') response.writeHead(307, { location: '/to' })
      response.end()
    })
    const { secrets, placeholder } = withToken(TOKEN)
    const client = openEgress({
      egress: [{ url: origin }],
      grants: `acme=127.0.0.1:${port}`,
      call: { secrets },
    })
    const body = Buffer.from(JSON.stringify({ key: placeholder }))
    const reply = await client.fetch(
      get(`${origin}/from`, { method: 'POST', headers: JSON_TYPE, body }),
    )
    expect(seen.map(({ path, body: sent }) => [path, JSON.parse(sent).key])).toEqual([
      ['/from', TOKEN],
      ['/to', TOKEN],
    ])
    expect(JSON.stringify(reply)).not.toContain(TOKEN)
  })
})

describe('a request is refused, and not sent, with a secret', () => {
  type Sent = { path?: string; headers?: [string, string][]; body?: Buffer }
  const json = (text: string): Sent => ({ headers: JSON_TYPE, body: Buffer.from(text) })
  const escaped = (text: string) => text.replace('kw', '\\u006bw')
  const percent = (text: string) =>
    text.replace(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)
  const base64 = (text: string) => Buffer.from(text).toString('base64')

  const CASES: [string, RegExp, (secret: string) => Sent][] = [
    ['in the path', /in the path/, (s) => ({ path: `/a/${s}` })],
    ['percent-encoded in the path', /in the path/, (s) => ({ path: `/${percent(s)}` })],
    ['in base64 in the path', /in the path/, (s) => ({ path: `/${base64(`u:${s}`)}` })],
    [
      'in the name of a query parameter',
      /name of a query parameter/,
      (s) => ({ path: `/?${s}=1` }),
    ],
    ['alone in the query', /name of a query parameter/, (s) => ({ path: `/?${s}` })],
    ['percent-encoded in the query', /encoded/, (s) => ({ path: `/?a=${percent(s)}` })],
    ['in base64 in the query', /ctx\.basic/, (s) => ({ path: `/?a=${base64(s)}` })],
    ['in the name of a header', /name of a header/, (s) => ({ headers: [[`x-${s}`, '1']] })],
    ['in base64 in a header', /ctx\.sign/, (s) => ({ headers: [['x-key', base64(s)]] })],
    ['percent-encoded in a header', /encoded/, (s) => ({ headers: [['x-key', percent(s)]] })],
    ['beside a letter in a header', /stands alone/, (s) => ({ headers: [['x-key', `x${s}`]] })],
    [
      'before a letter in Basic',
      /stands alone/,
      (s) => ({ headers: [['authorization', `Basic ${base64(`u:${s}x`)}`]] }),
    ],
    ['beside an encoded letter in the query', /stands alone/, (s) => ({ path: `/?a=%41${s}` })],
    ['before an encoded letter in the query', /stands alone/, (s) => ({ path: `/?a=${s}%41` })],
    ['beside an escaped letter in JSON', /stands alone/, (s) => json(`["\\u0041${s}"]`)],
    ['before an escaped letter in JSON', /stands alone/, (s) => json(`["${s}\\u0041"]`)],
    ['after an escaped backslash and n in JSON', /stands alone/, (s) => json(`["\\\\n${s}"]`)],
    ['in the name of a JSON member', /name of a JSON member/, (s) => json(`{"${s}":1}`)],
    ['escaped in JSON', /encoded/, (s) => json(`["${escaped(s)}"]`)],
    ['escaped in the name of a JSON member', /in pieces/, (s) => json(`{"${escaped(s)}":"${s}"}`)],
    ['in base64 in JSON', /ctx\.basic/, (s) => json(JSON.stringify([base64(`abc${s}`)]))],
    [
      'in base64 within base64 in JSON, after a plain one',
      /base64/,
      (s) => json(JSON.stringify([s, base64(s)])),
    ],
    ['in invalid JSON', /is not/, (s) => json(`{"a":"${s}"`)],
    ['split in two', /in pieces/, (s) => json(JSON.stringify([s.slice(0, 20), s.slice(20)]))],
    ['truncated', /in pieces/, (s) => json(JSON.stringify([s.slice(0, 16)]))],
    [
      'in the name of a form field',
      /name of a form field/,
      (s) => ({ headers: FORM, body: Buffer.from(`a=1&${s}=2`) }),
    ],
    [
      'percent-encoded in a form',
      /encoded/,
      (s) => ({ headers: FORM, body: Buffer.from(`a=${percent(s)}`) }),
    ],
    [
      'in multipart',
      /multipart\/form-data/,
      (s) => ({
        headers: [['content-type', 'multipart/form-data; boundary=b']],
        body: Buffer.from(`--b\r\n\r\n${s}`),
      }),
    ],
    [
      'in XML',
      /application\/xml/,
      (s) => ({ headers: [['content-type', 'application/xml']], body: Buffer.from(`<a>${s}</a>`) }),
    ],
    [
      'in plain text',
      /neither JSON nor/,
      (s) => ({ headers: [['content-type', 'text/plain']], body: Buffer.from(s) }),
    ],
    ['in a body without a type', /neither JSON nor/, (s) => ({ body: Buffer.from(s) })],
    [
      'in JSON of more than 256 KiB',
      /262144/,
      (s) => json(JSON.stringify([s, 'x'.repeat(262_144)])),
    ],
    ['that does not fit a header', /cannot be sent/, (s) => ({ headers: [['x-key', s]] })],
  ]

  test.each(CASES)('%s', async (_name, words, sent) => {
    const { send, seen, placeholder } = await scene('日本 secret')
    const { path = '/', ...more } = sent(placeholder)
    const error = await errorOf(send(path, more))
    expect(error.message).toMatch(words)
    expect(error.code).toBe(
      /cannot be sent/.test(error.message) ? 'egress_header' : 'egress_secret',
    )
    expect(`${error.message} ${JSON.stringify(seen)}`).not.toContain('日本')
    expect(seen).toEqual([])
  })

  test.each([
    [
      'a body',
      (key: string) => ({ headers: JSON_TYPE, body: Buffer.from(JSON.stringify({ key })) }),
    ],
    ['a form', (key: string) => ({ headers: FORM, body: Buffer.from(`key=${key}`) })],
  ])('that contains half of a character, in %s', async (_what, more) => {
    const { send, seen, placeholder } = await scene('first-\ud83d-secret')
    const error = await errorOf(send('/', more(placeholder)))
    expect(error).toMatchObject({
      code: 'request_invalid',
      message: expect.stringMatching(/^A secret of .* half of a character/),
    })
    expect(error.message).not.toContain('first')
    expect(seen).toEqual([])
  })

  test('in the host, also in upper case', async () => {
    const { secrets, placeholder } = withToken(TOKEN)
    const client = openEgress({ egress: [{ url: 'https://*.acme.example' }], call: { secrets } })
    for (const host of [placeholder, placeholder.toUpperCase()]) {
      const error = await errorOf(client.fetch(get(`https://${host}.acme.example/`)))
      expect(error).toMatchObject({ code: 'egress_secret', message: expect.stringMatching(/host/) })
    }
  })

  test('of another call', async () => {
    const { send, seen } = await scene()
    const { placeholder } = withToken('another')
    const error = await errorOf(send('/', { headers: [['x-key', placeholder]] }))
    expect(error).toMatchObject({
      code: 'egress_secret',
      message: expect.stringMatching(/module variables/),
    })
    expect(seen).toEqual([])
  })

  test('that was never issued', async () => {
    const { send, placeholder } = await scene()
    const error = await errorOf(
      send('/', { headers: [['x-key', placeholder.replace('s000', 's001')]] }),
    )
    expect(error).toMatchObject({ code: 'egress_secret' })
  })
})

describe('the list of secrets of an egress entry', () => {
  test.each([[['auth']], [['settings.x', 'auth']], [undefined]])(
    '%j lets the secret through',
    async (names) => {
      const { send, seen, placeholder } = await scene('the-token', names ? { secrets: names } : {})
      await send('/', { headers: [['x-key', placeholder]] })
      expect(seen[0]?.headers['x-key']).toBe('the-token')
    },
  )

  test.each([[[]], [['settings.x']], [['api']]])('%j refuses the secret', async (names) => {
    const { send, seen, placeholder } = await scene('the-token', { secrets: names })
    const error = await errorOf(send('/', { headers: [['x-key', placeholder]] }))
    expect(error).toMatchObject({
      code: 'egress_secret',
      message: expect.stringMatching(/egress\[0\]/),
    })
    expect(seen).toEqual([])
  })

  test('also applies to the target of a redirect', async () => {
    const target = await startUpstream((_request, response) => response.end())
    const { port, origin } = await startUpstream((_request, response) => {
      response.writeHead(307, { location: `${target.origin}/` })
      response.end()
    })
    const { secrets, placeholder } = withToken('the-token')
    const client = openEgress({
      egress: [{ url: origin }, { url: target.origin, secrets: [] }],
      grants: `acme=127.0.0.1:${port} acme=127.0.0.1:${target.port}`,
      call: { secrets },
    })
    const body = Buffer.from(JSON.stringify([placeholder]))
    const error = await errorOf(
      client.fetch(get(origin, { method: 'POST', headers: JSON_TYPE, body })),
    )
    expect(error.code).toBe('egress_secret')
    expect(target.seen).toEqual([])
  })
})

describe('the limits of a request count its secrets', () => {
  const PAGE = 60 * 1024
  /** A token far larger than its placeholder. */
  const large = 'x'.repeat(PAGE)
  const many = (count: number, placeholder: string) =>
    Buffer.from(JSON.stringify(Array(count).fill(placeholder)))

  test('in the body', async () => {
    const { send, seen, placeholder } = await scene(large)
    const error = await errorOf(send('/', { headers: JSON_TYPE, body: many(5000, placeholder) }))
    expect(error.code).toBe('egress_body')
    expect(error.message).toContain('secrets included')
    const form = Buffer.from(Array(5000).fill(`a=${placeholder}`).join('&'))
    expect((await errorOf(send('/', { headers: FORM, body: form }))).code).toBe('egress_body')
    expect(seen).toEqual([])
    await send('/', { headers: JSON_TYPE, body: many(10, placeholder) })
    expect(seen[0]?.body.length).toBeGreaterThan(10 * PAGE)
  })

  test('in headers and in the URL', async () => {
    const { send, seen, placeholder } = await scene(large)
    const headers: [string, string][] = [['x', Array(1000).fill(placeholder).join(' ')]]
    expect((await errorOf(send('/', { headers }))).code).toBe('egress_header')
    expect((await errorOf(send(`/?a=${placeholder}`))).code).toBe('egress_secret')
    expect(seen).toEqual([])
  })

  test('in the bytes of open requests, which are released when a request ends', async () => {
    const answers: (() => void)[] = []
    const { origin, port, seen } = await startUpstream((_request, response) => {
      answers.push(() => response.end('{}'))
    })
    const { secrets, placeholder } = withToken(large)
    const client = openEgress({
      egress: [{ url: origin }],
      grants: `acme=127.0.0.1:${port}`,
      call: { secrets },
      limits: { maxOpenRequestBytes: 2 * 1024 * 1024 },
    })
    const post = () =>
      client.fetch(get(origin, { method: 'POST', headers: JSON_TYPE, body: many(20, placeholder) }))
    const first = post()
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await errorOf(post())).code).toBe('egress_concurrency')
    answers[0]?.()
    await first
    const second = post()
    while (answers.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    answers[1]?.()
    expect((await second).status).toBe(200)
  })
})
