import { expect, test } from 'vitest'
import { createGuest, type Post, reply } from './isolate.ts'

/** The post to the host for `ctx.fetch(${code})`. */
async function sent(code: string): Promise<Post> {
  const guest = await createGuest(`{ a: async (_, ctx) => { await ctx.fetch(${code}) } }`)
  void guest.run('a')
  return guest.posted('fetch')
}

/** The result of an expression over `reply`, the answer of a fetch. */
async function made(code: string, head: object, body: string): Promise<unknown> {
  const guest = await createGuest(
    `{ a: async (_, ctx) => { const reply = await ctx.fetch('https://a.example/'); return ${code} } }`,
  )
  const answer = guest.run('a')
  await guest.deliver((await guest.posted('fetch')).id, head, body)
  const { response, head: answered } = await answer
  return response ?? answered
}

test('a plain fetch is a GET that follows redirects', async () => {
  const { head, body } = await sent(`'https://a.example/x?y=1'`)
  expect({ head, body }).toEqual({
    head: {
      call: 1,
      url: 'https://a.example/x?y=1',
      method: 'GET',
      headers: [],
      redirect: 'follow',
      encoding: null,
    },
    body: '',
  })
})

test.each([
  [`body: '{"ä":1}'`, 'utf8', '{"ä":1}', 'text/plain;charset=UTF-8'],
  [`body: 'x', headers: { 'Content-Type': 'a/b' }`, 'utf8', 'x', 'a/b'],
  [
    `body: new URLSearchParams({ a: 'b c' })`,
    'utf8',
    'a=b+c',
    'application/x-www-form-urlencoded;charset=UTF-8',
  ],
  [`body: Uint8Array.of(1, 255)`, 'base64', 'Af8=', undefined],
  [`body: new DataView(Uint8Array.of(1, 2, 3, 4).buffer, 1, 2)`, 'base64', 'AgM=', undefined],
  [`body: Uint8Array.of(1, 255).buffer`, 'base64', 'Af8=', undefined],
  [`body: new Blob(['hi'], { type: 'Text/Plain' })`, 'base64', 'aGk=', 'text/plain'],
])('the body { %s } is sent to the host as %s', async (init, encoding, body, type) => {
  const post = await sent(`'https://a.example/', { method: 'post', ${init} }`)
  expect(post.head).toMatchObject({ method: 'POST', encoding })
  expect(post.body).toBe(body)
  expect(Object.fromEntries(post.head['headers'] as [string, string][])['content-type']).toBe(type)
})

test('a form without files is sent to the host as multipart text', async () => {
  const post = await sent(
    `'https://a.example/', { method: 'POST', body: (() => { const f = new FormData(); f.append('a"b', 'one\\ntwo'); f.append('c', 'ü'); return f })() }`,
  )
  const type = Object.fromEntries(post.head['headers'] as [string, string][])['content-type']
  const boundary = type?.replace('multipart/form-data; boundary=', '')
  expect(post.head['encoding']).toBe('utf8')
  expect(post.body).toBe(
    `--${boundary}\r\nContent-Disposition: form-data; name="a%22b"\r\n\r\none\r\ntwo\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="c"\r\n\r\nü\r\n--${boundary}--\r\n`,
  )
})

test('a form with a file is sent to the host as bytes that Node can parse', async () => {
  const post = await sent(
    `'https://a.example/', { method: 'POST', body: (() => { const f = new FormData(); f.append('t', 'x'); f.append('f', new File([Uint8Array.of(0, 255)], 'n.bin'), 'other.bin'); return f })() }`,
  )
  const headers = post.head['headers'] as [string, string][]
  const form = await new Response(Buffer.from(post.body, 'base64'), { headers }).formData()
  const file = form.get('f') as File
  expect(form.get('t')).toBe('x')
  expect([file.name, ...(await file.bytes())]).toEqual(['other.bin', 0, 255])
})

test('a Request is fetched with its own members', async () => {
  const post = await sent(
    `new Request(new URL('/p', 'https://a.example'), { method: 'PUT', body: 'b', headers: [['x-a', '1'], ['x-a', '2']], redirect: 'manual' })`,
  )
  expect(post.head).toMatchObject({ url: 'https://a.example/p', method: 'PUT', redirect: 'manual' })
  expect(post.head['headers']).toContainEqual(['x-a', '1, 2'])
  expect(post.body).toBe('b')
})

test.each([
  [`'https://a.example/', { body: 'x' }`, /a GET request cannot have a body/],
  [`'https://a.example/', { method: 'POST', body: { a: 1 } }`, /write JSON with JSON.stringify/],
  [`'https://a.example/', { headers: { 'a b': '1' } }`, /"a b" is not a header name/],
  [
    `'https://a.example/', { headers: { a: 'secret\\nb: 1' } }`,
    /^the value of the header a is not allowed$/,
  ],
  [`'https://a.example/', { redirect: 'never' }`, /redirect is follow, manual or error/],
  [`'https://a.example/', { method: 'A B' }`, /"A B" is not an HTTP method/],
])('fetch(%s) rejects without a request', async (code, message) => {
  const guest = await createGuest(`{ a: async (_, ctx) => { await ctx.fetch(${code}) } }`)
  expect((await guest.error('a'))['message']).toMatch(message)
  expect(await guest.all('fetch')).toEqual([])
})

test('an answer has its status, address and headers', async () => {
  const head = {
    ...reply(404, [
      ['X-A', '1'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]),
    redirected: true,
  }
  const code = `[reply.ok, reply.status, reply.url, reply.redirected, reply.headers.get('x-a'), reply.headers.getSetCookie(), reply instanceof Response]`
  expect(await made(code, head, '')).toEqual([
    false,
    404,
    'https://a.example/x',
    true,
    '1',
    ['a=1', 'b=2'],
    true,
  ])
})

test('the body of an answer can be read repeatedly and in every form', async () => {
  const code = `[await reply.text(), await reply.json(), [...await reply.bytes()].length, (await reply.arrayBuffer()).byteLength, (await reply.clone().json()).a]`
  expect(await made(code, reply(), '{"a":"ü"}')).toEqual(['{"a":"ü"}', { a: 'ü' }, 10, 10, 'ü'])
})

test('a binary body arrives as its bytes', async () => {
  const head = { ...reply(), encoding: 'base64' }
  expect(await made('[...await reply.bytes()]', head, 'AP8=')).toEqual([0, 255])
})

test('an answer to an unknown fetch is ignored', async () => {
  const guest = await createGuest('{ a: () => 1 }')
  await guest.deliver(12345, reply(), 'x')
  expect((await guest.run('a')).response).toBe(1)
})

test('open fetches are aborted when the call ends', async () => {
  const guest = await createGuest(
    `{ a: (_, ctx) => { ctx.fetch('https://a.example/'); return 1 } }`,
  )
  await guest.run('a')
  const { id } = await guest.posted('fetch')
  expect((await guest.posted('fetch_abort')).id).toBe(id)
})

test('a context that outlives its call cannot fetch', async () => {
  const guest = await createGuest(
    `{ a: (_, ctx) => { globalThis.old = ctx; return 1 }, b: () => globalThis.old.fetch('https://a.example/') }`,
  )
  await guest.run('a')
  expect(await guest.error('b')).toMatchObject({ message: 'the call has ended' })
  expect(await guest.all('fetch')).toEqual([])
})

test('aborting a call fires its signal and rejects its fetches only', async () => {
  const guest = await createGuest(`{
    a: async (_, ctx) => { let fired = false; ctx.signal.addEventListener('abort', () => { fired = true })
      try { await ctx.fetch('https://a.example/') } catch (error) { return [error.name, fired || 'not yet', ctx.signal.aborted] } },
    b: async (_, ctx) => (await ctx.fetch('https://b.example/')).status }`)
  const a = guest.run('a', {}, 1)
  const b = guest.run('b', {}, 2)
  const [one, two] = [await guest.posted('fetch', 1), await guest.posted('fetch', 2)]
  await guest.abort(1)
  expect((await a).response).toEqual(['AbortError', true, true])
  expect((await guest.all('fetch_abort')).map((post) => post.id)).toEqual([one.id])
  await guest.deliver(two.id, reply())
  expect((await b).response).toBe(200)
})

test('the author’s own signal aborts one fetch with its reason', async () => {
  const guest = await createGuest(`{ a: async (_, ctx) => { const c = new AbortController()
    const reply = ctx.fetch('https://a.example/', { signal: c.signal }); c.abort('mine'); return reply.catch((reason) => reason) } }`)
  expect((await guest.run('a')).response).toBe('mine')
  expect((await guest.posted('fetch_abort')).id).toBe((await guest.posted('fetch')).id)
})

test('a signal that is already aborted sends nothing', async () => {
  const guest = await createGuest(
    `{ a: (_, ctx) => ctx.fetch('https://a.example/', { signal: AbortSignal.abort() }) }`,
  )
  expect(await guest.error('a')).toMatchObject({ raised_by: 'AbortError' })
  expect(await guest.all('fetch')).toEqual([])
})
