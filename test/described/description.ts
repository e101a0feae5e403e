/**
 * Vendors' own descriptions of their APIs, fetched from the package registry when a test needs one and
 * cached in a temporary folder: they are large, and only tests use them.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where a description is: a package of an exact version, and the file in it. */
type Source = { name: string; version: string; file: string }

/** OpenAPI 3.0: GitHub.com's REST API. The package has 29 MB, the file 13. */
export const GITHUB: Source = {
  name: '@octokit/openapi',
  version: '23.0.2',
  file: 'generated/api.github.com.json',
}

/** Swagger 2: Okta's management API. */
export const OKTA: Source = { name: '@okta/openapi', version: '2.15.0', file: 'dist/spec.json' }

const FOLDER = path.join(tmpdir(), `keyway-descriptions-${userInfo().uid}`)

/** Largest description, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024

/** A description as it was published, from the cache or from the registry. */
export async function readDescription({ name, version, file }: Source): Promise<object> {
  const kept = path.join(FOLDER, `${name.replace('/', '-')}-${version}.json`)
  try {
    return JSON.parse(await readFile(kept, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  await mkdir(FOLDER, { recursive: true })
  const work = await mkdtemp(path.join(FOLDER, 'fetch-'))
  try {
    await run('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', work])
    const [, scope, plain] = /^@([^/]+)\/(.+)$/.exec(name) as unknown as [string, string, string]
    const archive = path.join(work, `${scope}-${plain}-${version}.tgz`)
    const { stdout } = await run('tar', ['-xzOf', archive, `package/${file}`], {
      maxBuffer: MAX_BYTES,
    })
    const made = path.join(work, 'description.json')
    await writeFile(made, stdout)
    // Two tests may do this at once: renaming a complete file is atomic.
    await rename(made, kept)
    return JSON.parse(stdout)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
