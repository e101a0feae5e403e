/** Tests page tokens: complete listings, their binding to the request, and refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, greeter, withToken } from '../fixtures/folders.ts'
import { failure, startHost, success, type TestHost } from './host.ts'
import { envelope, expectFine } from './several.ts'

let host: TestHost

beforeAll(async () => {
  host = await startHost({
    connectors: { several: fixture('several'), greeter: greeter('greeter', 'hello') },
  })
})
afterAll(async () => {
  await host?.stop()
})

describe('page tokens', () => {
  const page = async (token: string | null, size: number | null, other: object = {}) =>
    host.call('several-parts', 'list_accounts', {
      ...envelope,
      request: {},
      page: { token, size },
      ...other,
    })
  const tokenOf = async (size: number | null) => (await page(null, size)).body.page?.token as string

  test.each([
    [1, 10],
    [4, 3],
    [7, 2],
    [1000, 1],
    [undefined, 3],
  ])('of size %s lead through %s pages that list everything once', async (size, count) => {
    const pages = await host.pages<{ integration_specific_id: string }>(
      'several-parts',
      'list_accounts',
      { ...envelope, request: {} },
      size,
    )
    expect(pages).toHaveLength(count)
    expect(pages.flat().map((one) => one.integration_specific_id)).toEqual(
      Array.from({ length: 10 }, (_, index) => `a-${index}`),
    )
  })

  test('keep their size when the caller leaves it out', async () => {
    const { body } = await page(await tokenOf(3), null)
    expect(success<unknown[]>(body)).toHaveLength(3)
    expect(body.page?.size).toBe(3)
  })

  test('stay valid with other credentials, such as a refreshed token', async () => {
    const fresh = [{ id: 'api', token: { token: 'a-token-that-was-refreshed' } }]
    const { body } = await page(await tokenOf(4), 4, { credentials: fresh })
    expect(success(body)).toMatchObject([{ integration_specific_id: 'a-4' }, {}, {}, {}])
  })

  test('do not reveal the cursor, and are never the same twice', async () => {
    const [one, two] = [await tokenOf(4), await tokenOf(4)]
    expect(one).not.toBe(two)
    expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('several')
  })

  const edited = (token: string, at: number) =>
    token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
  const attempts: [string, (token: string) => ReturnType<typeof page>][] = [
    ['edited at the start', (token) => page(edited(token, 0), 4)],
    ['edited in its key id', (token) => page(edited(token, 3), 4)],
    ['edited in the middle', (token) => page(edited(token, 40), 4)],
    ['truncated', (token) => page(token.slice(0, -4), 4)],
    ['lengthened', (token) => page(`${token}AAAA`, 4)],
    ['empty', () => page('', 4)],
    ['invented', () => page('eyJjdXJzb3IiOjR9', 4)],
    ['with other letters', () => page('ключ \u0000 🔑', 4)],
    ['too long', () => page('A'.repeat(100_000), 4)],
    ['with another size', (token) => page(token, 5)],
    ['with another request', (token) => page(token, 4, { request: { custom_attributes: ['x'] } })],
    ['with other settings', (token) => page(token, 4, { settings: { host: 'b.example' } })],
    [
      'of another connector',
      (token) =>
        host.call('greeter', 'list_accounts', { ...withToken(), page: { token, size: 4 } }),
    ],
    [
      'of another capability',
      (token) =>
        host.call('several-parts', 'get_account', { ...envelope, page: { token, size: 4 } }),
    ],
  ]
  test.each(attempts)(
    '%s are refused, and the envelope repeats the page',
    async (_what, attempt) => {
      const answer = await attempt(await tokenOf(4))
      const { error_code, raised_by } = failure(answer)
      expect({ error_code, raised_by }).toEqual({
        error_code: 'invalid_page_token',
        raised_by: null,
      })
      expect(answer.body.page?.token).toEqual(expect.any(String))
      await expectFine(host)
    },
  )

  test('in an error are those that were sent', async () => {
    const token = edited(await tokenOf(4), 40)
    expect((await page(token, 4)).body.page).toEqual({ token, size: 4 })
  })
})
