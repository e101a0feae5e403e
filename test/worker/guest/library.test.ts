import { runInThisContext } from 'node:vm'
import { beforeAll, describe, expect, test } from 'vitest'
import { createGuest, type Guest } from './isolate.ts'

let guest: Guest
beforeAll(async () => {
  guest = await createGuest()
})

/** Expressions that have the same value in the sandbox as in Node. */
const SAME_AS_NODE: Record<string, string[]> = {
  URL: [
    `new URL('../b?x=1#h', 'https://u:p@a.example:8443/c/d').href`,
    `(({ href, origin, protocol, username, password, host, hostname, port, pathname, search, hash }) => [href, origin, protocol, username, password, host, hostname, port, pathname, search, hash])(new URL('https://u:p@ä.example:81/ü?q=ö#f'))`,
    `JSON.stringify({ url: new URL('https://a.example') })`,
    `[URL.canParse('x'), URL.canParse('x', 'https://a.example'), URL.parse('x')]`,
    `(() => { const u = new URL('https://a.example/p'); u.searchParams.append('a b', 'ü&'); u.searchParams.set('c', '1'); return [u.href, u.search] })()`,
    `(() => { const u = new URL('https://a.example/?a=1'); const p = u.searchParams; u.search = '?b=2'; return [p.get('a'), p.get('b'), p === u.searchParams] })()`,
    `(() => { const u = new URL('https://a.example/?a=1'); u.searchParams.delete('a'); return u.href })()`,
    `(() => { const u = new URL('https://a.example/x'); u.protocol = 'http'; u.host = 'b.example:99'; u.pathname = 'y z'; u.hash = 'q'; u.port = '80'; u.username = 'me'; return u.href })()`,
    `Object.prototype.toString.call(new URL('https://a.example'))`,
    `URL.name`,
  ],
  URLSearchParams: [
    `new URLSearchParams('?a=1&b=%zz&c=%C3%BC+x&d&=e&%FF').toString()`,
    `new URLSearchParams({ a: "!'()~*-._ ü" }).toString()`,
    `new URLSearchParams([['a', '1'], ['a', '2']]).getAll('a')`,
    `(() => { const p = new URLSearchParams('b=1&a=2&b=3'); p.sort(); return [...p] })()`,
    `(() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.set('a', '9'); p.append('c', ''); return [p.toString(), p.size, p.has('a', '1'), p.has('a', '9')] })()`,
    `(() => { const p = new URLSearchParams('a=1&a=2'); p.delete('a', '1'); return p.toString() })()`,
    `[...new URLSearchParams(new URLSearchParams('a=\\ud800')).values()]`,
  ],
  base64: [
    `['', 'YQ', 'YQ==', ' Y Q = = ', 'YWI=', 'YWJj', '/+8=', 'YR=='].map(atob)`,
    `['', 'a', 'ab', 'abc', '\\xff\\0'].map(btoa)`,
  ],
  'text codecs': [
    `[...new TextEncoder().encode('aü€😀\\ud800')]`,
    `(() => { const b = new Uint8Array(4); return [new TextEncoder().encodeInto('aü😀', b), [...b]] })()`,
    `[[0xef, 0xbb, 0xbf, 0x61], [0xf0, 0x9f, 0x98], [0xc0, 0x80, 0x61], [0xed, 0xa0, 0x80], [0xe2, 0x82, 0x28], [0xf4, 0x90, 0x80, 0x80], [0xf0, 0x9f, 0x98, 0x80], [0xff]].map((b) => new TextDecoder().decode(Uint8Array.from(b)))`,
    `new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))`,
    `(() => { const d = new TextDecoder(); return [0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xbc].map((b) => d.decode(Uint8Array.of(b), { stream: true })).concat(d.decode()) })()`,
    `(() => { const d = new TextDecoder(); return [d.decode(Uint8Array.of(0xe2, 0x82), { stream: true }), d.decode(), d.decode(Uint8Array.of(0x61))] })()`,
    `new TextDecoder('latin1').decode(Uint8Array.of(0xe4, 0x80))`,
    `['UTF8', 'latin1', ' utf-16le ', 'shift_jis'].map((label) => new TextDecoder(label).encoding)`,
    `new TextDecoder('utf-16le').decode(Uint8Array.of(0x61, 0, 0xfc, 0))`,
    `new TextDecoder().decode(new TextEncoder().encode('ü😀x'.repeat(5000))) === 'ü😀x'.repeat(5000)`,
  ],
  Headers: [
    `(() => { const h = new Headers({ 'X-B': ' 1 ', a: '2' }); h.append('x-b', '3'); h.append('set-cookie', 'c=1'); h.append('Set-Cookie', 'd=2'); return [[...h], h.get('X-b'), h.has('nope'), h.get('nope'), h.getSetCookie()] })()`,
    `(() => { const h = new Headers([['a', '1'], ['A', '2'], ['b', '3']]); h.set('A', '4'); h.delete('B'); return [...new Headers(h).entries()] })()`,
  ],
  'Request and Response': [
    `(async () => { const r = new Response('{"a":1}', { status: 201, headers: { x: 'y' } }); return [r.ok, r.status, r.headers.get('content-type'), await r.clone().json(), r.bodyUsed, await r.text(), r.bodyUsed] })()`,
    `(async () => { const r = Response.json({ a: 1 }, { status: 400 }); return [r.ok, r.headers.get('content-type'), await r.json()] })()`,
    `(async () => { const r = new Request('https://a.example/x', { method: 'post', body: new URLSearchParams('a=1') }); return [r.method, r.url, r.headers.get('content-type'), await r.text(), r.redirect, r.signal.aborted] })()`,
  ],
  'Blob, File and FormData': [
    `(async () => { const b = new Blob(['aü', Uint8Array.of(33), new Blob(['z'])], { type: 'A/B' }); return [b.size, b.type, await b.text(), await b.slice(1, 3).text(), (await b.arrayBuffer()).byteLength] })()`,
    `(() => { const f = new FormData(); f.append('a', 1); f.append('a', 2); f.set('b', new Blob(['x'])); f.set('a', 3); return [[...f.keys()], f.get('a'), f.get('b').name, f.get('b') instanceof File, f.has('c'), f.get('c')] })()`,
    `(() => { const f = new FormData(); f.append('a', new File(['x'], 'n', { type: 't/x', lastModified: 5 }), 'm'); const { name, type, lastModified } = f.get('a'); return [name, type, lastModified] })()`,
  ],
  'EventTarget and AbortSignal': [
    `[AbortSignal.abort(), new AbortController().signal].map((signal) => { const t = new EventTarget(); let n = 0; t.addEventListener('x', () => { n += 1 }, { signal }); t.dispatchEvent(new Event('x')); return n })`,
  ],
  structuredClone: [
    `(() => { const o = { d: new Date(5), r: /x/gi, m: new Map([[1, new Set([2])]]), u: undefined, n: [1, , 3], b: Uint8Array.of(1, 2).subarray(1), z: Object(3) }; o.self = o; const c = structuredClone(o); return [c.self === c, c !== o, c.d.getTime(), String(c.r), [...c.m.get(1)], 'u' in c, 1 in c.n, [...c.b], c.b.byteOffset, c.z + 1] })()`,
    `(() => { const b = new ArrayBuffer(8); const c = structuredClone([new Uint8Array(b), new DataView(b, 2)]); return [c[0].buffer === c[1].buffer, c[1].byteOffset, c[0].buffer !== b] })()`,
    `(() => { const e = new RangeError('r', { cause: 1 }); const c = structuredClone(e); return [c instanceof RangeError, c.message, c.cause, c.stack === e.stack] })()`,
    `(() => { const o = JSON.parse('{"__proto__":{"x":1}}'); const c = structuredClone(o); return [Object.keys(c), Object.getPrototypeOf(c) === Object.prototype] })()`,
  ],
  DOMException: [
    `(() => { const e = new DOMException('m', 'NotSupportedError'); return [e.name, e.message, e.code, e instanceof Error, String(e), Object.prototype.toString.call(e)] })()`,
  ],
}

for (const [name, expressions] of Object.entries(SAME_AS_NODE)) {
  describe(name, () => {
    test.each(expressions)('has the same result as in Node for %s', async (expression) => {
      const inNode = await runInThisContext(`(async () => await (${expression}))()`)
      expect(await guest.value(expression)).toEqual(JSON.parse(JSON.stringify(inNode)))
    })
  })
}

test.each([
  [`new URL('nonsense')`, 'TypeError: Invalid URL'],
  [`Object.assign(new URL('https://a.example'), { href: 'x' })`, 'TypeError: Invalid URL'],
  [
    `new URL('https://a.example/' + 'x'.repeat(70000))`,
    'RangeError: the address is over the limit of 65536 characters',
  ],
  [`atob('A')`, /^InvalidCharacterError: /],
  [`atob('YQ=')`, /^InvalidCharacterError: /],
  [`atob('Y*==')`, /^InvalidCharacterError: /],
  [`btoa('€')`, /^InvalidCharacterError: /],
  [`new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.of(0xff))`, /^TypeError: /],
  [`new TextDecoder('utf-16le', { fatal: true }).decode(Uint8Array.of(0, 0xd8))`, /^TypeError: /],
  [`new TextDecoder('klingon')`, 'RangeError: there is no such encoding'],
  [`structuredClone(() => 1)`, 'DataCloneError: a function could not be cloned'],
  [`structuredClone({ a: Symbol('x') })`, 'DataCloneError: a symbol could not be cloned'],
  [`structuredClone(Promise.resolve())`, 'DataCloneError: a Promise could not be cloned'],
  [`new Headers({ a: '€' })`, 'TypeError: the value of the header a is not allowed'],
  [`new Response('', { status: 99 })`, 'RangeError: a response status is 200 to 599, not 99'],
  [`new AbortSignal()`, 'TypeError: Illegal constructor'],
  [`new CryptoKey()`, 'TypeError: Illegal constructor'],
  [`setTimeout('alert(1)')`, 'TypeError: the timer callback is not a function'],
  [`crypto.getRandomValues(new Uint8Array(65537))`, /^QuotaExceededError: 65537 random bytes/],
  [`crypto.getRandomValues(new Float32Array(1))`, /^TypeMismatchError: /],
])('%s is refused', async (expression, message) => {
  expect(await guest.thrown(expression)).toMatch(message)
})

test('random values fill exactly the given view', async () => {
  const code = `(() => { const all = new Uint32Array(100); const same = crypto.getRandomValues(all.subarray(10, 90)); return [same.length, all.subarray(0, 10).some(Boolean), all.subarray(10, 90).filter(Boolean).length > 70, all.subarray(90).some(Boolean)] })()`
  expect(await guest.value(code)).toEqual([80, false, true, false])
})

test('random UUIDs have version 4 and differ', async () => {
  const [one, two] = (await guest.value('[crypto.randomUUID(), crypto.randomUUID()]')) as string[]
  expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(one).not.toBe(two)
})

test('microtasks run in order, and before a timer that was set earlier', async () => {
  const code = `new Promise((done) => { const seen = []; setTimeout(() => { seen.push('timer'); done(seen) }, 0); queueMicrotask(() => seen.push(1)); queueMicrotask(() => seen.push(2)) })`
  const own = await createGuest()
  const seen = own.value(code)
  await own.deliver((await own.posted('timer')).id)
  expect(await seen).toEqual([1, 2, 'timer'])
  own.dispose()
})
