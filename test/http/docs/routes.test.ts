/** The documentation as it is served: all pages, all links, and the content security policy. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { atOnce } from '../../../runtime/bounded/slices.ts'
import {
  docsAddressOf,
  FILES,
  resolveLink,
  DOCS_PAGES as SERVED,
} from '../../../runtime/http/docs/pages.ts'
import { PICTURE_FILES } from '../../../runtime/http/docs/pictures.ts'
import { docsRoutes } from '../../../runtime/http/docs/routes.ts'
import { documentSteps } from '../../../runtime/http/documents/openapi.ts'
import { docsPages } from '../../../scripts/docs.ts'
import { ROOT, readPage } from '../../pages.ts'

const app = docsRoutes(async () => atOnce(documentSteps({ connectorsPath: '/connectors' })))
const get = (at: string, headers: Record<string, string> = {}) => app.request(at, { headers })
const addresses = [...SERVED.map(docsAddressOf), '/docs/api', '/docs/search?q=backup']
const pages = new Map<string, string>()

beforeAll(async () => {
  for (const at of addresses) pages.set(at, await (await get(at)).text())
})

const idsOf = (html: string): string[] =>
  [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)
const linksOf = (html: string): string[] =>
  [...html.matchAll(/(?:href|src|srcset|action)="([^"]*)"/g)].map(([, to = '']) =>
    to.replaceAll('&amp;', '&'),
  )

test('serves every page of the documentation', () => {
  expect(SERVED.map(({ file }) => file)).toEqual(expect.arrayContaining(docsPages()))
  expect(new Set(SERVED.map(({ slug }) => slug)).size).toBe(SERVED.length)
})

test.each(addresses)('%s is HTML that needs no script and loads only our own files', async (at) => {
  const { status, headers } = await get(at)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^text\/html/i)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; style-src 'self'; /)
  expect(policy).not.toMatch(/unsafe|\*|https?:|script-src/)
  const html = pages.get(at) ?? ''
  expect(html).toMatch(/^<!doctype html>\n<html lang="en">/)
  expect(html).toMatch(/<title>[^<]{3,}<\/title>/)
  expect(html.match(/<h1[ >]/g)).toHaveLength(1)
  expect(html).not.toMatch(/<script|<style| style=| on\w+="|<iframe|<object/i)
})

test('the API reference is rendered once for all requests', async () => {
  let made = 0
  const counting = docsRoutes(async () => {
    made += 1
    return atOnce(documentSteps({ connectorsPath: '/connectors' }))
  })
  const ask = async () => (await counting.request('/docs/api')).headers.get('etag')
  const tags = new Set(await Promise.all(Array.from({ length: 10 }, ask)))
  expect([...tags, made]).toEqual([expect.stringMatching(/^"/), 1])
})

test.each(addresses)('%s has no duplicate ids', (at) => {
  const ids = idsOf(pages.get(at) ?? '')
  expect(ids).toEqual([...new Set(ids)])
})

test.each(addresses)('every link of %s leads to something that is served', async (at) => {
  const broken: string[] = []
  for (const to of new Set(linksOf(pages.get(at) ?? ''))) {
    if (/^https?:/.test(to)) continue
    const { pathname, hash } = new URL(to, `http://x${at}`)
    if (pathname === '/openapi.json') continue
    const html = pages.get(pathname) ?? (await (await get(pathname)).text())
    if (!pages.has(pathname) && (await get(pathname)).status !== 200) broken.push(to)
    else if (hash !== '' && !idsOf(html).includes(decodeURIComponent(hash.slice(1))))
      broken.push(to)
  }
  expect(broken).toEqual([])
})

test.each(docsPages())('every link of the source %s resolves in the browser, too', (page) => {
  const text = readPage(page).replace(/^```[\s\S]*?^```/gm, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to)
  // Only the repository shows a folder of files.
  const lost = links.filter(
    (to) => !to.endsWith('scripts/deploy/') && resolveLink(page, to) === null,
  )
  expect(lost).toEqual([])
})

test.each(Object.keys(FILES))('%s is served unchanged, and cannot run scripts', async (file) => {
  const reply = await get(`/docs/files/${file}`)
  expect(reply.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  expect(reply.headers.get('content-type')).toBe(FILES[file])
  expect(Buffer.from(await reply.arrayBuffer())).toEqual(readFileSync(path.join(ROOT, file)))
})

test('a picture is not compressed again, and is answered 304 if the client has it', async () => {
  const at = `/docs/files/${PICTURE_FILES[0]}`
  const reply = await get(at, { 'accept-encoding': 'br, gzip' })
  expect(reply.headers.get('content-encoding')).toBe(null)
  const tag = reply.headers.get('etag') ?? ''
  const again = await get(at, { 'accept-encoding': 'br, gzip', 'if-none-match': tag })
  expect([again.status, await again.text()]).toEqual([304, ''])
})

test.each([
  '/docs/nothing',
  '/docs/operate',
  '/docs/files/package.json',
  '/docs/files/../package.json',
  '/docs/operate%2ftls',
  '/docs/__proto__',
  '/docs/constructor',
  '/docs/<script>',
])('%s is answered 404 with a page that offers the search', async (at) => {
  const reply = await get(at)
  expect(reply.status).toBe(404)
  const html = await reply.text()
  expect(html).toContain('action="/docs/search"')
  expect(html).not.toContain('<script')
})

test('/docs/ redirects to /docs', async () => {
  const reply = await get('/docs/')
  expect([reply.status, reply.headers.get('location')]).toEqual([301, '/docs'])
})

describe('the search', () => {
  const found = async (query: string) =>
    (await get(`/docs/search?q=${encodeURIComponent(query)}`)).text()

  test('is a form that needs no script', async () => {
    for (const html of pages.values()) {
      expect(html).toContain('<form role="search" action="/docs/search">')
      expect(html).toContain('name="q"')
    }
  })

  test.each([
    ['KEYWAY_SECRET', '/docs/reference/settings'],
    ['rotate the secret', '/docs/operate/secrets#rotate-the-secret'],
    ['offsetListing', '/docs/authors/sdk#offsetlisting'],
    ['list_accounts', '/docs/api#list_accounts'],
    ['pgbouncer', '/docs/operate/several-hosts#database-connections'],
  ])('finds %s', async (query, address) => {
    expect(linksOf(await found(query))).toContain(address)
  })

  test('highlights the query, and escapes it', async () => {
    expect(await found('pgbouncer')).toContain('<mark>pgbouncer</mark>')
    const evil = '"><script>alert(1)</script>'
    const html = await found(evil)
    expect(html).not.toContain('<script')
    expect(html).toContain('Nothing was found')
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;')
  })

  test('says what to do without a query, and accepts a query that is too long', async () => {
    expect(await found('')).toContain('Enter one or more words')
    expect((await get(`/docs/search?q=${'x'.repeat(5000)}`)).status).toBe(200)
    expect((await get('/docs/search')).status).toBe(200)
  })
})
