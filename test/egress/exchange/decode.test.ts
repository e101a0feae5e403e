import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { decodeBody } from '../../../runtime/egress/exchange/decode.ts'
import { DEFAULT_LIMITS } from '../../../runtime/egress/limits/limits.ts'
import { errorOf } from '../fixtures/open-egress.ts'

const TEXT = Buffer.from('hello hello hello')
const decode = (body: Buffer, encoding: string, limits = {}, onBytes = (_bytes: number) => {}) =>
  decodeBody(body, encoding, {
    from: 'a.example:443',
    limits: { ...DEFAULT_LIMITS, ...limits },
    onBytes,
  })

test.each([
  ['gzip', gzipSync(TEXT)],
  ['GZIP', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['deflate', deflateRawSync(TEXT)],
  ['identity', TEXT],
  ['', TEXT],
  ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
])('decodes %s', async (encoding, body) => {
  expect((await decode(body, encoding)).toString()).toBe(TEXT.toString())
})

test('returns an empty body as it is, despite its encoding', async () => {
  expect(await decode(Buffer.alloc(0), 'gzip')).toHaveLength(0)
})

test.each([
  ['gzip', TEXT],
  ['br', TEXT],
  ['deflate', TEXT],
  ['gzip', gzipSync(TEXT).subarray(0, 15)],
  ['zstd', TEXT],
  ['constructor', TEXT],
  ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(TEXT)))],
])('reports an invalid %s body as upstream_garbled', async (encoding, body) => {
  const error = await errorOf(decode(body, encoding))
  expect(error).toMatchObject({ code: 'upstream_garbled' })
  expect(error.message).toContain('a.example:443')
})

test('stops at the size limit', async () => {
  const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, 'ab'.repeat(40)))
  const error = await errorOf(decode(bomb, 'gzip', { maxRatio: 1e6 }))
  expect(error).toMatchObject({ code: 'upstream_too_large' })
  expect(error.message).toContain(`${16 * 1024 * 1024} bytes`)
})

test('stops at the ratio, after the first mebibyte', async () => {
  const allowed = gzipSync(Buffer.alloc(1024 * 1024))
  expect(await decode(allowed, 'gzip')).toHaveLength(1024 * 1024)
  const bomb = gzipSync(Buffer.alloc(2 * 1024 * 1024))
  expect(await errorOf(decode(bomb, 'gzip'))).toMatchObject({ code: 'upstream_too_large' })
})

test('measures the ratio of two encodings against the received bytes', async () => {
  const bomb = gzipSync(gzipSync(Buffer.alloc(12 * 1024 * 1024)))
  expect(await errorOf(decode(bomb, 'gzip, gzip'))).toMatchObject({ code: 'upstream_too_large' })
})

test('counts decoded bytes as they arrive, and stops when the count is refused', async () => {
  let counted = 0
  const body = gzipSync(Buffer.alloc(1024 * 1024))
  await decode(body, 'gzip', {}, (bytes) => {
    counted += bytes
  })
  expect(counted).toBe(1024 * 1024)

  const full = new RuntimeError('egress_concurrency', 'full')
  let pieces = 0
  const refuse = () => {
    pieces += 1
    throw full
  }
  expect(await errorOf(decode(body, 'gzip', {}, refuse))).toBe(full)
  expect(pieces).toBe(1)
})
