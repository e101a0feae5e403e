/** Packages for tests, made of sources as `keyway pack` makes them, without its checks. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { packageOf } from '../../../runtime/connectors/packages/format.ts'
import { makeKeyPair, signPackage } from '../../../runtime/connectors/packages/sign.ts'
import { writePackage } from '../../../runtime/connectors/packages/write.ts'
import { readFolder } from '../../../runtime/connectors/registry/folder.ts'
import { compileOnce } from '../../kit/compiled.ts'

export type Made = {
  packed: Buffer
  digest: string
  signature: string
  id: string
  version: string
}

export const publisher = makeKeyPair()

/** Source of a connector that lists 23 accounts, five a page, each named after the version that lists it. */
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

/** Placeholder for the version in the default code, which is bundled once for all versions. */
const ANY_VERSION = 'any-version'

/** A case for each capability, as an installed package must have. */
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
  const manifest = {
    id: 'acme',
    version: '1.0.0',
    runtime: '^1.0.0',
    authentication_schema: { kind: 'token' },
    egress: [{ url: 'https://api.acme.example' }],
    capabilities: { validate_credentials: {}, list_accounts: {} },
    ...changes,
  }
  const { id, version, runtime } = manifest
  const text = JSON.stringify(manifest)
  const sources = { 'connector.json': text, 'connector.ts': code ?? LISTING(ANY_VERSION) }
  const bundle = (await bundled(sources)).replaceAll(ANY_VERSION, version)
  const files = new Map([
    ['code.js', Buffer.from(bundle)],
    ['connector.json', Buffer.from(text)],
    ['connector.cases.json', Buffer.from(JSON.stringify(cases ?? casesFor(manifest.capabilities)))],
  ])
  const made = packageOf({ id, version, runtime }, files)
  const signature = JSON.stringify(signPackage(made, publisher.privateKey))
  return { packed: await writePackage(made), digest: made.digest, signature, id, version }
}

async function bundled(sources: Record<string, string>): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'keyway-packaging-'))
  try {
    for (const [name, text] of Object.entries(sources)) await writeFile(path.join(home, name), text)
    const folder = await readFolder(home)
    const work = { workDirectory: path.join(home, 'work'), prefix: [], timeoutMs: 20_000 }
    const compiled = await compileOnce(folder, work)
    if (!compiled.ok) throw new Error(compiled.findings.join('\n'))
    return compiled.code
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}
