/** Packages for tests, made of sources as `keyway pack` makes them, without its checks. */
import path from 'node:path'
import { packageOf } from '../../runtime/packages/format.ts'
import { makeKeyPair, signPackage } from '../../runtime/packages/sign.ts'
import { writePackage } from '../../runtime/packages/write.ts'
import { compile } from '../../runtime/registry/compile.ts'
import { readFolder } from '../../runtime/registry/folder.ts'
import { manifestOf, temporaryFolder, write } from '../registry/fixtures/folders.ts'

export type Made = {
  packed: Buffer
  digest: string
  signature: string
  id: string
  version: string
}

export const publisher = makeKeyPair()

/** Lists some accounts of its own, five a page, each named for the version that listed it. */
export const LISTING = (version: string, more = '') => `
import { defineConnector, paged } from 'keyway/sdk'
const ids = Array.from({ length: 23 }, (_, index) => 'account-' + index)
export default defineConnector({
  async validate_credentials() {
    return { valid: true, unique_tenant_id: 'tenant' }
  },
  async list_accounts(_input, context) {
    const start = Number(context.page.cursor ?? 0)
    const end = start + 5
    const items = ids.slice(start, end).map((id) => ({
      integration_specific_id: id,
      email: id + '@example.com',
      given_name: '${version}',
      user_status: 'ACTIVE',
    }))
    return paged(items, end < ids.length ? String(end) : null)
  },
  ${more}
})
`

/** A case for each capability, which is what an installed package must have. */
export const casesFor = (
  capabilities: Record<string, unknown>,
  more: Record<string, object> = {},
): object[] =>
  Object.keys(capabilities).map((capability) => ({
    name: `calls ${capability}`,
    capability,
    request: {},
    auth: { token: { token: 'a-token-of-a-case' } },
    settings: {},
    upstream: [],
    ...more[capability],
  }))

/** A package of a manifest and a connector.ts. */
export async function packaged(
  changes: Record<string, unknown> = {},
  code?: string,
  cases?: object[],
): Promise<Made> {
  const manifest = manifestOf({
    capabilities: { validate_credentials: {}, list_accounts: {} },
    ...changes,
  })
  const { id, version, runtime } = manifest
  const directory = path.join(temporaryFolder(), id)
  await write(directory, {
    'connector.json': JSON.stringify(manifest),
    'connector.ts': code ?? LISTING(version),
    'connector.cases.json': JSON.stringify(cases ?? casesFor(manifest.capabilities)),
  })
  const folder = await readFolder(directory)
  const compiled = await compile(folder, {
    workDirectory: temporaryFolder(),
    prefix: [],
    timeoutMs: 20_000,
  })
  if (!compiled.ok) throw new Error(compiled.findings.join('\n'))
  const files = new Map([
    ['code.js', Buffer.from(compiled.code)],
    ['connector.json', folder.files.get('connector.json') as Buffer],
    ['connector.cases.json', folder.files.get('connector.cases.json') as Buffer],
  ])
  const made = packageOf({ id, version, runtime }, files)
  const signature = JSON.stringify(signPackage(made, publisher.privateKey))
  return { packed: await writePackage(made), digest: made.digest, signature, id, version }
}
