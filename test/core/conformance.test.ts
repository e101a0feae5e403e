/**
 * Checks every endpoint of the table, so that new rows are covered automatically. host.ts validates each
 * JSON reply against /openapi.json.
 */
import { randomUUID } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { eq } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { csvColumns, listForm } from '../../runtime/contract/endpoints/csv-columns.ts'
import type { Endpoint } from '../../runtime/contract/endpoints/endpoint.ts'
import { enumWords } from '../../runtime/contract/endpoints/params.ts'
import { ENDPOINTS, type EndpointName } from '../../runtime/contract/endpoints/table.ts'
import { schemaEntries } from '../../runtime/contract/schema/shape.ts'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import { createToken } from '../../runtime/core/kernel/identity/tokens.ts'
import { apiTokens, users } from '../../runtime/database/schema/people.ts'
import { bodyOf, builderOf, type World } from './conformance-samples.ts'
import {
  ADMIN_TOKEN,
  type CoreHost,
  domainOf,
  otherDomain,
  person,
  type Reply,
  SECRET,
  startCore,
} from './host.ts'

const ROWS = Object.entries(ENDPOINTS) as [EndpointName, Endpoint][]
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

let core: CoreHost
let world: World
let plain: string
let readOnly: string
/** Invalid tokens by reason. */
const invalidTokens: Record<string, string | null> = {
  'no token': null,
  'a malformed token': 'abc',
  'only the prefix': 'lsk_',
  'an unknown token': `lsk_${'x'.repeat(43)}`,
  'a truncated token': ADMIN_TOKEN.slice(0, -1),
}

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '1000000' })
  await core.host.settled
  const { db } = core
  world = { db, domainId: await domainOf(db), otherDomainId: await otherDomain(db) }
  plain = (await person(db, 'plain@example.com')).token
  readOnly = (await person(db, 'readonly@example.com', ['Admin'])).readOnlyToken
  for (const status of ['SUSPENDED', 'INACTIVE'] as const) {
    const gone = await person(db, `${status}@example.com`, ['Admin'])
    await db.update(users).set({ status }).where(eq(users.id, gone.id))
    invalidTokens[`a token of a user ${status}`] = gone.token
  }
  const owner = await person(db, 'owner@example.com', ['Admin'])
  invalidTokens['a revoked token'] = await tokenOf(owner.id, { revokedAt: new Date() })
  invalidTokens['an expired token'] = await tokenOf(owner.id, {
    expiresAt: new Date(Date.now() - 1000),
  })
})
afterAll(() => core.stop())

async function tokenOf(userId: string, state: { revokedAt?: Date; expiresAt?: Date }) {
  const token = { userId, domainId: world.domainId, name: 'x', description: '', readOnly: false }
  const made = await createToken(core.db, createTokenHasher([SECRET]), {
    ...token,
    expiresAt: null,
  })
  await core.db.update(apiTokens).set(state).where(eq(apiTokens.id, made.id))
  return made.token
}

const paramsOf = (row: Endpoint): string[] =>
  [...row.path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => name)

/** The path with existing objects, some of which may be given. */
async function pathOf(row: Endpoint, given: Record<string, string> = {}): Promise<string> {
  let path = row.path
  for (const name of paramsOf(row)) {
    const value = given[name] ?? encodeURIComponent(await builderOf(name, row.path).own(world))
    path = path.replace(`:${name}`, () => value)
  }
  return path + (await neededQuery(row))
}

/** The required query parameters, naming existing objects. */
async function neededQuery(row: Endpoint): Promise<string> {
  const query = new URLSearchParams()
  for (const [name, { required }] of Object.entries(row.query))
    if (required) query.set(name, await builderOf(name).own(world))
  return query.size === 0 ? '' : `?${query}`
}

const withQuery = (path: string, query: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}${query}`

type Options = NonNullable<Parameters<CoreHost['call']>[2]>

/** Sends a request and checks what every reply must have. */
async function call(method: string, path: string, options: Options = {}): Promise<Reply> {
  const reply = await core.call(method, path, options)
  expect(reply.headers.get('x-request-id')).toMatch(/./)
  const [bare] = path.split('?')
  const isCsv = options.headers?.['accept'] === 'text/csv'
  const isText = ROWS.some(([, row]) => row.answer === 'text' && row.path === bare)
  const isFile = bare?.endsWith('/evidence') === true
  if (reply.status !== 204 && method !== 'HEAD')
    expect(reply.headers.get('content-type')).toMatch(
      reply.status !== 200
        ? /^application\/json/
        : isText || isCsv
          ? /^text\/(plain|csv)/
          : isFile
            ? /^application\/x-ndjson/
            : /^application\/json/,
    )
  return reply
}

/** Sends a request that is valid except for the given options. */
async function valid(name: EndpointName, row: Endpoint, options: Options = {}, path?: string) {
  const at = path ?? (await pathOf(row))
  // Built after the path, because a body may name objects of the path.
  const body = row.body ? { body: await bodyOf(name, world) } : {}
  return call(row.method, at, { ...body, ...options })
}

/** Path and body for refused requests, which change nothing; so the same objects serve many requests. */
async function refusable(name: EndpointName, row: Endpoint, given: Record<string, string> = {}) {
  const path = await pathOf(row, given)
  return { path, body: row.body ? await bodyOf(name, world) : undefined }
}

/** Exceeds the size limit of every body. */
const LARGE = Buffer.alloc(10_000_000, 'x')

/** Defines a test for a row that it applies to. A skipped test would read as if something were missing here. */
const testIf =
  (applies: unknown) =>
  (title: string, body: () => Promise<void>): void => {
    if (applies) test(title, body)
  }

const NOT_AUTHENTICATED = { detail: 'Not authenticated' }

describe.each(ROWS)('%s', (name, row) => {
  const needsToken = row.who !== 'anybody'
  const names = Object.keys(row.query)
  const typed = (type: string) =>
    Object.entries(row.query).filter(([, { jsonSchema }]) => jsonSchema['type'] === type)

  test('returns its declared status and rate-limit headers', async () => {
    const reply = await valid(name, row, needsToken ? {} : { token: null })
    expect(reply.status).toBe(row.status)
    if (row.answer === 'empty') expect(reply.body).toBeNull()
    if (!needsToken) return
    expect(reply.headers.get('x-ratelimit-limit')).toBe('1000000')
    expect(Number(reply.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0)
    expect(reply.headers.get('x-ratelimit-reset')).toMatch(/^\d+\.\d+$/)
    expect(reply.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  testIf(needsToken)('returns 401 without a valid token', async () => {
    const { path, body: sent } = await refusable(name, row)
    for (const [why, token] of Object.entries(invalidTokens)) {
      const { status, body, headers } = await call(row.method, path, { body: sent, token })
      expect({ why, status, body }).toEqual({ why, status: 401, body: NOT_AUTHENTICATED })
      expect(headers.get('www-authenticate')).toBe('Bearer')
    }
    const headers = { authorization: 'Basic eDp5' }
    const basic = await call(row.method, path, { body: sent, token: null, headers })
    expect(basic).toMatchObject({ status: 401, body: NOT_AUTHENTICATED })
  })

  testIf(needsToken && row.method !== 'GET')('returns 403 to a read-only token', async () => {
    expect(await valid(name, row, { token: readOnly })).toMatchObject({
      status: 403,
      body: { detail: 'This token is read-only' },
    })
  })

  testIf(needsToken && row.who !== 'caller')(
    'returns 403 to a caller without permission',
    async () => {
      expect(await valid(name, row, { token: plain })).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining(row.who) },
      })
    },
  )

  test('returns 405 for other methods', async () => {
    const path = await pathOf(row)
    const bare = path.replace(/\?.*/, '')
    const served = ROWS.filter(([, one]) =>
      new RegExp(`^${one.path.replace(/:[a-z_]+/g, '[^/]+')}$`).test(bare),
    ).map(([, { method }]) => method as string)
    for (const method of METHODS.filter((one) => !served.includes(one))) {
      const { status, body, headers } = await call(method, path)
      expect({ method, status, body }).toEqual({
        method,
        status: 405,
        body: { detail: 'Method Not Allowed' },
      })
      expect(headers.get('allow')?.split(', ')).toContain(row.method)
    }
  })

  const foreignParams = paramsOf(row).flatMap((param) => {
    const { foreign } = builderOf(param)
    return foreign ? [[param, foreign] as const] : []
  })
  test.each(foreignParams)('returns 404 for an unknown or malformed %s', async (param, foreign) => {
    const ids = {
      unknown: randomUUID(),
      malformed: 'x',
      'with a slash': `x%2F${randomUUID()}`,
      'with a way up': '..%2Fcurrent',
      'with NUL': '%00',
      'an id and NUL': `${randomUUID()}%00`,
      'no UTF-8': '%ff%fe',
      'half an escape': '%',
      'very long': 'x'.repeat(5000),
      'like SQL': encodeURIComponent("' or 1=1 --"),
      'like a member of an object': '__proto__',
      'of another domain': await foreign(world),
    }
    const place = '<id>'
    const { path, body: sent } = await refusable(name, row, { [param]: place })
    for (const [which, id] of Object.entries(ids)) {
      const at = path.replace(place, () => id)
      const { status, body } = await call(row.method, at, { body: sent })
      expect({ which, status, detail: typeof body.detail }).toEqual({
        which,
        status: 404,
        detail: 'string',
      })
    }
  })

  test.each(typed('integer'))(
    'returns 422 for an invalid number %s',
    async (key, { jsonSchema }) => {
      const { path, body: sent } = await refusable(name, row)
      const { minimum, maximum } = jsonSchema as { minimum?: number; maximum?: number }
      const parsing = {
        type: 'int_parsing',
        msg: 'Input should be a valid integer, unable to parse string as an integer',
      }
      const least = {
        type: 'greater_than_equal',
        msg: `Input should be greater than or equal to ${minimum}`,
      }
      const most = {
        type: 'less_than_equal',
        msg: `Input should be less than or equal to ${maximum}`,
      }
      const wrong: [string, { type: string; msg: string }][] = [
        'x',
        '',
        '1.5',
        '1e1',
        '0x1',
        '%00',
        '9'.repeat(30),
      ].map((text) => [text, parsing])
      if (minimum !== undefined) wrong.push([String(minimum - 1), least], ['-1', least])
      if (maximum !== undefined) wrong.push([String(maximum + 1), most])
      for (const [text, entry] of wrong) {
        const at = withQuery(path, `${key}=${text}`)
        const { status, body } = await call(row.method, at, { body: sent })
        expect({ text, status }).toEqual({ text, status: 422 })
        expect(body.detail[0]).toEqual({ loc: ['query', key], ...entry })
      }
    },
  )

  test.each(typed('boolean'))('returns 422 for an invalid boolean %s', async (key) => {
    const path = withQuery(await pathOf(row), `${key}=maybe`)
    const msg = 'Input should be a valid boolean, unable to interpret input'
    expect(await valid(name, row, {}, path)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', key], type: 'bool_parsing', msg }] },
    })
  })

  test.each(Object.entries(row.query))(
    'returns 422 for NUL in %s, and for an invalid enum value or time',
    async (key, { jsonSchema, many }) => {
      const { path, body } = await refusable(name, row)
      const {
        enum: options,
        items,
        format,
      } = jsonSchema as {
        enum?: (string | null)[]
        items?: { enum?: string[] }
        format?: string
      }
      const choice = (options ?? items?.enum)?.filter((one) => one !== null)
      const loc = many ? ['query', key, 0] : ['query', key]
      const send = (text: string) => call(row.method, withQuery(path, `${key}=${text}`), { body })
      if (choice)
        expect(await send('NOPE')).toMatchObject({
          status: 422,
          body: { detail: [{ loc, type: 'enum', msg: enumWords(choice) }] },
        })
      if (format === 'date-time')
        expect(await send('yesterday')).toMatchObject({
          status: 422,
          body: { detail: [{ loc, type: 'datetime_from_date_parsing' }] },
        })
      expect((await send('%00')).status).toBe(422)
    },
  )

  const numbers = typed('integer').map(([key]) => key)
  testIf(numbers.length > 1)(
    'reports all errors of a query at once, in the order of its parameters',
    async () => {
      const path = withQuery(
        await pathOf(row),
        numbers
          .map((key) => `${key}=x`)
          .reverse()
          .join('&'),
      )
      const { body } = await valid(name, row, {}, path)
      expect(body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(numbers)
    },
  )

  test.each(typed('integer'))(
    'uses the last value of a repeated %s',
    async (key, { jsonSchema }) => {
      const validNumber = String(jsonSchema['minimum'] ?? jsonSchema['default'])
      const path = withQuery(await pathOf(row), `${key}=x&${key}=${validNumber}`)
      expect((await valid(name, row, {}, path)).status).toBe(row.status)
    },
  )

  test('ignores unknown keys of the query', async () => {
    const path = await pathOf(row)
    expect((await valid(name, row, {}, withQuery(path, 'nobody_knows=1&__proto__=x'))).status).toBe(
      row.status,
    )
  })

  const isPaged = row.answer === 'page' || row.answer === 'limit-offset'
  testIf(isPaged)('returns an empty page past the end, with the correct total', async () => {
    const [key, far] =
      row.answer === 'page' ? ['page', 9_007_199_254_740_991] : ['offset', 1_000_000_000]
    if (!names.includes(key as string))
      throw new Error(`${name} returns a ${row.answer}, but has no parameter ${key}`)
    const path = await pathOf(row)
    const first = await valid(name, row, {}, path)
    const past = await valid(name, row, {}, withQuery(path, `${key}=${far}`))
    expect(past).toMatchObject({ status: 200, body: { items: [], total: first.body.total } })
    if (row.answer === 'page')
      expect(first.body.pages).toBe(Math.ceil(first.body.total / first.body.size))
  })

  const form = listForm(row)
  test(`${form ? 'is' : 'is not'} called a list, as its answer ${form ? 'is' : 'is not'} one`, () => {
    expect(name.startsWith('list_')).toBe(form !== null)
  })

  testIf(form)(
    'also returns its list as CSV, with a column for each member of an item',
    async () => {
      if (form === null) throw new Error(`${name} does not return a list`)
      const reply = await valid(name, row, { headers: { accept: 'text/csv' } })
      expect(reply.status).toBe(200)
      const [head, ...rows] = parse(reply.body) as string[][]
      expect(head).toEqual(csvColumns(form.item))
      const { body } = await valid(name, row)
      const listed = form.member === null ? body : body[form.member]
      expect(rows.length).toBeGreaterThanOrEqual(Math.min(1, listed.length))
    },
  )

  test('returns no 5xx status to concurrent calls', async () => {
    const path = await pathOf(row)
    const replies = await Promise.all(Array.from({ length: 4 }, () => valid(name, row, {}, path)))
    const statuses = replies.map(({ status }) => status)
    expect(statuses).toContain(row.status)
    expect(statuses.filter((status) => status >= 500)).toEqual([])
  })

  if (row.body === null) return
  describe('validates its body:', () => {
    const raw = async (text: string, type = 'application/json', path?: string) =>
      call(row.method, path ?? (await pathOf(row)), {
        raw: text,
        headers: { 'content-type': type },
      })
    let kept: ReturnType<typeof refusable> | null = null
    /** The path and body shared by all requests whose body is refused. */
    const refused = () => {
      kept ??= refusable(name, row)
      return kept
    }
    const goodBody = async () => (await refused()).body as Record<string, unknown>
    const refuse = async (text: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
      call(row.method, (await refused()).path, { raw: text, headers: { 'content-type': type } })
    const entries = row.body === null ? {} : schemaEntries(row.body)
    const fits = (key: string, value: unknown) =>
      v.safeParse(entries[key] as v.GenericSchema, value).success
    const notAnObject = {
      loc: ['body'],
      type: 'model_attributes_type',
      msg: 'Input should be a valid dictionary or object to extract fields from',
    }

    test('absent', async () => {
      const missing = { detail: [{ loc: ['body'], type: 'missing', msg: 'Field required' }] }
      const { path } = await refused()
      expect(await call(row.method, path)).toMatchObject({ status: 422, body: missing })
      expect(await refuse(' \n')).toMatchObject({ status: 422, body: missing })
    })

    test.each(['{', '{"a":}', '{"a":1,}', "{'a':1}", 'NaN', '\ufeff{'])(
      'not JSON: %s',
      async (text) => {
        const entry = {
          loc: ['body', expect.any(Number)],
          type: 'json_invalid',
          msg: 'JSON decode error',
        }
        expect(await refuse(text)).toMatchObject({ status: 422, body: { detail: [entry] } })
      },
    )

    test.each(['[]', '"x"', '1', 'true', 'null'])('not an object: %s', async (text) => {
      expect(await refuse(text)).toMatchObject({ status: 422, body: { detail: [notAnObject] } })
    })

    test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', ''])(
      'sent as "%s"',
      async (type) => {
        const text = JSON.stringify(await goodBody())
        expect(await refuse(text, type)).toMatchObject({
          status: 422,
          body: { detail: [notAnObject] },
        })
      },
    )

    const needed = Object.keys(entries).filter((one) => !fits(one, undefined))
    test.each(needed)('without the required field %s', async (key) => {
      const { [key]: _left, ...rest } = await goodBody()
      const entry = { loc: ['body', key], type: 'missing', msg: 'Field required' }
      expect(await refuse(JSON.stringify(rest))).toMatchObject({
        status: 422,
        body: { detail: [entry] },
      })
    })

    test('with an unknown field', async () => {
      const strict = !v.safeParse(row.body as v.GenericSchema, {
        ...(await bodyOf(name, world)),
        extra: 1,
      }).success
      const reply = await raw(JSON.stringify({ ...(await bodyOf(name, world)), extra: 1 }))
      if (strict)
        expect(reply).toMatchObject({
          status: 422,
          body: {
            detail: [
              {
                loc: ['body', 'extra'],
                type: 'extra_forbidden',
                msg: 'Extra inputs are not permitted',
              },
            ],
          },
        })
      else expect(reply.status).toBe(row.status)
    })

    const invalidValues = [1.5, -1, 'x', true, null, [], {}, [1], [null], { a: 1 }, '']
    const invalidMembers = Object.keys(entries)
      .map((key) => [key, invalidValues.filter((value) => !fits(key, value))] as const)
      .filter(([, values]) => values.length > 0)
    testIf(invalidMembers.length > 0)('with values of wrong types', async () => {
      for (const [key, values] of invalidMembers)
        for (const value of values) {
          const body = { ...(await goodBody()), [key]: value }
          const reply = await refuse(JSON.stringify(body))
          expect({ key, value, status: reply.status }).toEqual({ key, value, status: 422 })
          expect(reply.body.detail[0].loc.slice(0, 2)).toEqual(['body', key])
          expect(reply.body.detail[0]).toEqual({
            loc: expect.any(Array),
            type: expect.stringMatching(/^[a-z_]+$/),
            msg: expect.stringMatching(/./),
          })
        }
    })

    test('with NUL in a string and in a key', async () => {
      const body = await goodBody()
      for (const key of Object.keys(body)) {
        const reply = await refuse(JSON.stringify({ ...body, [key]: 'a\0b' }))
        expect({ status: reply.status, loc: reply.body.detail[0].loc }).toEqual({
          status: 422,
          loc: ['body', key],
        })
      }
      expect((await refuse(JSON.stringify({ ...body, 'a\0b': 1 }))).status).toBe(422)
    })

    test('larger than the limit', async () => {
      const [beginning = '', end = ''] = JSON.stringify({
        ...(await goodBody()),
        extra: '-',
      }).split(/-(?="}$)/)
      const large = await refuse(Buffer.concat([Buffer.from(beginning), LARGE, Buffer.from(end)]))
      expect(large).toMatchObject({
        status: 413,
        body: { detail: expect.stringMatching(/larger than/) },
      })
    })

    test.each([
      ['[', 10_000],
      ['{"a":', 10_000],
      ['[', 500_000],
      ['[', 65],
    ])('nested with %s, %s levels deep', async (opening, times) => {
      const closing = opening === '[' ? ']' : '}'
      const deep = `${opening.repeat(times)}1${closing.repeat(times)}`
      const valid = JSON.stringify(await goodBody())
      const reply = await refuse(`${valid.slice(0, -1)},"deep":${deep}}`)
      expect(reply.status).toBe(422)
      expect(reply.body.detail[0].msg).toMatch(/deep/)
      expect(reply.body.detail[0].loc.length).toBeLessThan(10)
    })

    test('with __proto__ and constructor as members', async () => {
      const body = JSON.stringify(await bodyOf(name, world))
      const path = await pathOf(row)
      const hidden = await raw(`{"__proto__":${body}}`, 'application/json', path)
      const empty = await raw('{}', 'application/json', path)
      // __proto__ does not count as a member: it is ignored, or refused as an unknown field.
      const isStrict = row.body?.type === 'strict_object'
      const invalidValues = {
        loc: ['body', '__proto__'],
        msg: 'Extra inputs are not permitted',
        type: 'extra_forbidden',
      }
      expect({ status: hidden.status, body: hidden.body }).toEqual(
        isStrict
          ? { status: 422, body: { detail: expect.arrayContaining([invalidValues]) } }
          : { status: empty.status, body: empty.body },
      )
      const more = `${body.slice(0, -1)},"__proto__":{"toString":1},"constructor":{"prototype":1}}`
      expect((await raw(more)).status).toBeLessThan(500)
    })

    test('not valid UTF-8', async () => {
      const bytes = Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xff]), Buffer.from('"}')])
      expect(await refuse(bytes)).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 6], type: 'json_invalid' }] },
      })
    })
  })
})
