import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageOf } from '../../../runtime/connectors/packages/format.ts'
import { writePackage } from '../../../runtime/connectors/packages/write.ts'
import { ADMIN_TOKEN, type CoreHost, startCore } from '../../core/host.ts'
import { manifestOf } from '../registry/fixtures/folders.ts'
import { operator } from './operator.ts'
import { type Made, packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>
let good: Made

beforeAll(async () => {
  core = await startCore()
  op = operator(core)
  good = await packaged()
})
afterAll(() => core.stop())

const tarOf = async (...names: string[]) =>
  gzipSync(
    await packTar(
      names.map((name) => ({ header: { name, size: 2, type: 'file' as const }, body: '{}' })),
    ),
  )

/** A package of any files, with valid digests. */
const writes = (manifest: object, code = '') =>
  writePackage(
    packageOf(
      { id: 'acme', version: '1.0.0', runtime: '^1.0.0' },
      new Map([
        ['connector.json', Buffer.from(JSON.stringify(manifest))],
        ['code.js', Buffer.from(code)],
      ]),
    ),
  )

const CASES: [string, () => Promise<Buffer> | Buffer, RegExp][] = [
  ['an empty file', () => Buffer.alloc(0), /it is no package: unexpected end of file/],
  ['a file that is not an archive', () => Buffer.from('not a package'), /it is no package/],
  [
    'a truncated package',
    () => good.packed.subarray(0, good.packed.length / 2),
    /it is no package/,
  ],
  [
    'a package with trailing data',
    () => Buffer.concat([good.packed, Buffer.alloc(600)]),
    /data behind its end/,
  ],
  [
    'a package followed by a second archive',
    () => Buffer.concat([good.packed, gzipSync('more')]),
    /it is no package/,
  ],
  [
    'a package with a path out of its root',
    () => tarOf('../../etc/passwd'),
    /holds "\.\.\/\.\.\/etc\/passwd"/,
  ],
  ['a package with an absolute path', () => tarOf('/etc/passwd'), /holds "\/?etc\/passwd"/],
  [
    'a package with unexpected files',
    () => tarOf('digests.json', 'evil.sh'),
    /holds "evil\.sh"; a package holds/,
  ],
  [
    'a package whose manifest does not match its digest',
    () => writes(manifestOf({ version: '9.0.0' })),
    /connector\.json says version "9\.0\.0", digests\.json "1\.0\.0"/,
  ],
  [
    'a package for a newer contract',
    () => writes(manifestOf({ runtime: '^9.0.0' })),
    /runtime: asks for \^9\.0\.0/,
  ],
  [
    'a package with invalid code',
    () => writes(manifestOf(), 'this is not JavaScript'),
    /could not be loaded: Unexpected identifier/,
  ],
  [
    'a package with a private key in it',
    () => writes(manifestOf(), '// -----BEGIN PRIVATE KEY-----'),
    /code\.js holds what looks like a private key/,
  ],
]

test.each(CASES)(
  '%s is refused with a message, and nothing is stored',
  async (_name, make, words) => {
    const { status, body } = await op.upload({ packed: await make(), signature: null })
    expect([status, body.error.message]).toEqual([422, expect.stringMatching(words)])
    expect((await op.call('GET', '/generations')).body.items).toEqual([])
  },
)

const LIMIT_BYTES = 16 * 1024 * 1024

test('an upload over the size limit is refused', async () => {
  const { status } = await op.upload({ packed: Buffer.alloc(LIMIT_BYTES + 1), signature: null })
  expect(status).toBe(413)
})

test.each([
  ['announced as over the size limit is refused without being read', 64 * LIMIT_BYTES, 0],
  ['that goes over the size limit is refused without being read to its end', null, 17],
])('an upload %s', async (_what, announced, read) => {
  let sent = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(to) {
        sent += 1
        to.enqueue(new Uint8Array(LIMIT_BYTES / 16))
        if (sent === 64) to.close()
      },
    },
    { highWaterMark: 0 },
  )
  const { status } = await core.host.app.request('/operator/packages', {
    method: 'POST',
    headers: {
      host: 'localhost',
      authorization: `Bearer ${ADMIN_TOKEN}`,
      'content-type': 'application/gzip',
      ...(announced === null ? {} : { 'content-length': `${announced}` }),
    },
    body,
    duplex: 'half',
  } as RequestInit)
  expect({ status, sent }).toEqual({ status: 413, sent: read })
})

test('another media type is refused', async () => {
  const { status } = await core.call('POST', '/operator/packages', { body: {} })
  expect(status).toBe(415)
})

test('a read-only token and an auditor cannot upload a package', async () => {
  const { person } = await import('../../core/host.ts')
  const admin = await person(core.db, 'second@example.com', ['Admin'])
  const upload = (token: string) =>
    core.call('POST', '/operator/packages?dry_run=true', {
      token,
      raw: new Uint8Array(good.packed),
      headers: { 'content-type': 'application/gzip' },
    })
  expect((await upload(admin.readOnlyToken)).status).toBe(403)
  expect((await upload(admin.token)).status).toBe(201)
  const auditor = await person(core.db, 'third@example.com', ['Auditor'])
  expect((await upload(auditor.token)).status).toBe(403)
})
