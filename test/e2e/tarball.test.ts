/**
 * Follows an author from a clone of this repository to access that is granted through their own connector:
 * clone, pack, install into an empty folder, new, dev --record, check, sign, install, app, request. The
 * installed package must behave like the checkout.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PICTURE_FILES } from '../../runtime/http/docs/pictures.ts'
import { freePort } from '../free-port.ts'
import { send } from './client.ts'
import { begin, type Command, newHome, ROOT, run, stopCommands } from './command.ts'
import { clone, install, pack, type Tarball } from './tarball.ts'
import { until } from './until.ts'

let home: string
let tarball: Tarball
let file: string

beforeAll(async () => {
  home = await newHome()
  tarball = pack(await clone(home), home)
  await install(tarball, home)
  file = path.join(home, 'node_modules', 'keyway', 'runtime', 'cli', 'keyway.mjs')
})
afterAll(stopCommands)

/**
 * Output of the compiler in the author's folder: this repository's compiler, with the settings that `keyway
 * new` writes.
 */
const tsc = (...args: string[]): string => {
  const { stdout, stderr, error } = spawnSync(
    path.join(ROOT, 'node_modules', '.bin', 'tsc'),
    args,
    { cwd: home, encoding: 'utf8' },
  )
  if (error) throw error
  return stdout + stderr
}

/** All parent folders of a path. */
const foldersOf = (file: string): string[] => {
  const folder = path.posix.dirname(file)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

/** Relative links of a page, without those in code blocks. */
const linksOf = (page: string): string[] =>
  [
    ...page
      .replace(/^```[\s\S]*?^```/gm, '')
      .matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)"/g),
  ]
    .map(([, link, picture]) => link ?? picture ?? '')
    .filter((link) => !/^[a-z]+:/.test(link))

describe('the tarball', () => {
  test('contains what it needs to run, and no sources, tests or files of this repository only', () => {
    const rooms = new Set(tarball.paths.map((one) => one.split('/')[0]))
    expect([...rooms].sort()).toEqual([
      ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'dist', 'package.json'],
      ...['plugin-template', 'plugins', 'runtime', 'scripts', 'test'],
    ])
    const strange = tarball.paths.filter(
      (one) =>
        /\.test\.ts$|_snapshot\.json$/.test(one) ||
        (/^dist\/.*\.ts$/.test(one) && !one.endsWith('.d.ts')) ||
        (/^(test|scripts)\//.test(one) &&
          !/^(test\/hostile|scripts\/deploy)\//.test(one) &&
          !['test/bench/RESULTS.md', 'test/fixtures/readme/people.csv'].includes(one)),
    )
    expect(strange).toEqual([])
    const runtime = tarball.paths.filter(
      (one) => one.startsWith('runtime/') && !one.endsWith('.md'),
    )
    expect(runtime.sort()).toEqual([
      'runtime/cli/keyway.mjs',
      'runtime/docs/picture-dark.svg',
      'runtime/docs/picture.svg',
      ...[...PICTURE_FILES].sort(),
      'runtime/docs/reference/verify_evidence.py',
    ])
  })

  test('contains everything that its pages link to', async () => {
    const held = new Set(tarball.paths.flatMap((one) => [one, ...foldersOf(one)]))
    const pages = tarball.paths.filter((one) => one.endsWith('.md'))
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'runtime/docs/operate/deploy.md']))
    const broken = pages.flatMap((page) =>
      linksOf(readFileSync(path.join(ROOT, page), 'utf8'))
        .map((link) => path.posix.join(path.posix.dirname(page), link).replace(/\/$/, ''))
        .filter((target) => target !== '.' && !held.has(target))
        .map((target) => `${page}: ${target}`),
    )
    expect(broken, '`files` in package.json names them').toEqual([])
  })

  test('declares types of the modules that authors import, and of no others', () => {
    const folders = tarball.paths
      .filter((one) => one.endsWith('.d.ts'))
      .map((one) => one.split('/').slice(0, 2).join('/'))
    expect([...new Set(folders)].sort()).toEqual(['dist/contract', 'dist/sdk', 'dist/testing'])
  })

  test('contains every built-in connector, and no other', async () => {
    const builtIn = JSON.parse(
      await readFile(path.join(ROOT, 'runtime/connectors/registry/built-in.json'), 'utf8'),
    )
    const packed = tarball.paths
      .filter((one) => /^plugins\/[^/]+\/connector\.json$/.test(one))
      .map((one) => one.split('/')[1])
    expect(packed.sort(), '`files` in package.json names them').toEqual(Object.keys(builtIn).sort())
  })

  test('is built before it is packed', async () => {
    const { scripts } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'))
    expect(scripts.prepack).toBe('npm run build')
    expect(scripts.build).toBe('node scripts/build.ts')
  })
})

describe('an author', () => {
  test('creates a connector whose types resolve, which passes its check and is packaged', async () => {
    const made = await run(['new', 'acme'], { file, cwd: home })
    expect(made).toMatchObject({ code: 0 })
    expect(made.output).not.toContain('types of keyway/sdk')
    const [, guide = ''] = /How to write it: (\S+)/.exec(made.output) ?? []
    expect(await readFile(path.join(home, guide), 'utf8')).toContain('](manifest.md')
    expect(tsc('-p', 'plugins/acme')).toBe('')
    const checked = await run(['check', 'plugins/acme'], { file, cwd: home })
    expect(checked.output).toMatch(/^ok {3}acme 0\.1\.0: \d+ cases passed, 0 findings/)
    expect(checked.code).toBe(0)
    const packed = await run(['pack', 'plugins/acme'], { file, cwd: home })
    expect(packed.output).toContain('acme-0.1.0.tgz')
    expect(packed.code).toBe(0)
  })

  test('gets type errors from keyway/sdk and keyway/testing', async () => {
    await writeFile(
      path.join(home, 'plugins', 'acme', 'mistakes.ts'),
      `import { defineConnector } from 'keyway/sdk'
import { checkConnector } from 'keyway/testing'
export default defineConnector({ async list_acounts() { return [] } })
export const checked: Promise<number> = checkConnector('plugins/acme')
`,
    )
    const errors = tsc('-p', 'plugins/acme')
    await rm(path.join(home, 'plugins', 'acme', 'mistakes.ts'))
    expect(errors).toContain("Did you mean to write 'list_accounts'?")
    expect(errors).toContain("'Promise<CheckResult>' is not assignable")
    expect(errors.match(/error TS/g)).toHaveLength(2)
  })

  /** The Node from the package, and the oldest supported one. */
  const nodes = [
    'node_modules/.bin/node',
    ...(existsSync('/usr/bin/node') ? ['/usr/bin/node'] : []),
  ]

  test.each(nodes)('checks a connector from their own test, run by %s', async (which) => {
    await cp(path.join(ROOT, 'plugin-template'), path.join(home, 'mine'), {
      recursive: true,
      force: true,
    })
    const script = `import { checkConnector } from 'keyway/testing'
const { ok, id } = await checkConnector('mine')
console.log(JSON.stringify({ ok, id }))`
    const node = path.resolve(home, which)
    const told = execFileSync(node, ['--input-type=module', '--eval', script], {
      cwd: home,
      encoding: 'utf8',
    })
    expect(JSON.parse(told)).toEqual({ ok: true, id: 'acme' })
  })
})

describe('the server', () => {
  let served: Served
  beforeAll(async () => {
    expect((await run(['new', 'dropped'], { file, cwd: home })).code).toBe(0)
    served = await serve()
  })

  test('serves the sample and a drop-in connector', async () => {
    const { text } = await send(`${served.url}/connectors/scim/list_accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...served.as, request: {}, page: { size: 5 } }),
    })
    expect(JSON.parse(text).response).toHaveLength(5)
    const rows = (await served.core('/operator/connectors')).items
    const row = (id: string) => rows.find((one) => one['id'] === id)
    expect(row('scim')).toMatchObject({ source: 'built-in', serving: true })
    expect(row('dropped')).toMatchObject({ source: 'drop-in', serving: true })
  })

  test("accepts an author's connector: recorded, checked, signed, installed, connected, granted", async () => {
    const { core, as, env } = served
    const keyway = async (...args: string[]) => {
      const { code, output } = await run(args, { file, cwd: home, env: { ...env, PORT: '0' } })
      expect(code, output).toBe(0)
      return output
    }
    await keyway('new', 'desk', '--from', 'scim', '--dir', '.')
    await writeFile(
      path.join(home, 'desk', 'connector.cases.json'),
      await casesWithout('list_accounts'),
    )

    const dev = begin(['dev', 'desk', '--record'], {
      file,
      cwd: home,
      env: { ...env, PORT: '0', KEYWAY_DATA_DIR: path.join(home, 'dev-data') },
    })
    const [, at = ''] = await dev.prints(/call it at (\S+)\/[a-z-]+\/<capability>/)
    await dev.prints(/no case calls list_accounts/)
    const call = (page: object) =>
      send(`${at}/desk/list_accounts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...as, request: {}, page }),
      })
    const { page, response } = JSON.parse((await call({ size: 2 })).text)
    const [{ integration_specific_id: id }] = response
    await dev.prints(/recorded "recorded list_accounts" \(connector\.cases\.json:\d+\)/)
    await call(page)
    await dev.prints(/recorded "recorded list_accounts"[\s\S]*recorded "recorded list_accounts"/)
    dev.killGroup('SIGINT')
    expect((await dev.ended).code).toBe(0)
    const cases = await readFile(path.join(home, 'desk', 'connector.cases.json'), 'utf8')
    expect(cases).not.toContain('sample-token')
    expect(JSON.parse(cases).cases.at(-1)).toMatchObject({
      name: 'recorded list_accounts',
      pages: [{ more: true }, { more: true }],
    })

    const request = JSON.stringify({ account_id: id })
    const file_ = path.join(home, 'me.json')
    await writeFile(file_, JSON.stringify(as))
    expect(
      await keyway(
        'call',
        'desk',
        'get_account',
        '--as',
        file_,
        '--request',
        request,
        '--record',
        'desk',
      ),
    ).toContain(`recorded "recorded get_account: `)
    expect(await keyway('check', 'desk')).toMatch(
      /^ok {3}desk 1\.0\.0: \d+ cases passed, 0 findings/,
    )

    await keyway('pack', 'desk')
    await keyway('keygen', 'acme.key')
    await keyway('sign', 'desk-1.0.0.tgz', '--key', 'acme.key')
    const host = ['--url', served.url]
    await keyway('trust', 'acme.key.pub', '--name', 'Acme Inc.', ...host)
    const installed = await keyway('install', 'desk-1.0.0.tgz', '--grant-all', ...host)
    expect(installed).toContain('signed by a trusted publisher (Acme Inc.)')

    const { auth, settings } = as
    const app = await core('/apps', {
      app_class_id: 'desk',
      name: 'Help Desk',
      auth: auth.token,
      settings,
    })
    await core(`/apps/${app.id}/sync`, { sync_type: 'full_sync' })
    await until('the app is synced', async () =>
      (await core(`/operator/syncs?app_id=${app.id}`)).items.some(
        ({ state }) => state === 'SUCCEEDED',
      ),
    )
    await core('/appstore/apps', {
      app_id: app.id,
      request_flow: { discoverability: 'FULL' },
      provisioning: { groups_provisioning: 'GROUPS_AND_VISIBLE' },
    })
    const permissions = await core(
      `/appstore/requestable_permissions?app_id=${app.id}&search_term=office`,
    )
    const shown = await core(
      `/appstore/requestable_permissions/${permissions.items[0]?.id}`,
      { request_config: { appstore_visibility: 'VISIBLE' } },
      'PATCH',
    )
    const [hana] = (await core('/users?search_term=hana&size=1')).items
    const [asked] = (await core('/appstore/access_request', {
      app_id: app.id,
      requester_user_id: hana?.id,
      requestable_permission_ids: [shown.id],
      note: 'I carry boxes',
    })) as unknown as Row[]
    const [task] = (await core(`/tasks?access_request_id=${asked?.id}&status=PENDING`)).items
    await core(`/tasks/${task?.id}/complete`, {})
    await until('the request is completed', async () => {
      const { status } = await core(`/appstore/access_requests/${asked?.id}`)
      return status === 'COMPLETED'
    })
    const members = await membersOf(as, String(shown.label))
    expect(members, 'members of the group in the directory').toContain(hana?.email)
  }, 180_000)

  test('serves the packaged documentation', async () => {
    for (const at of ['/docs', '/docs/operate/backup', '/docs/connectors/scim', '/docs/results']) {
      const { status, text } = await send(`${served.url}${at}`, {})
      expect(status, at).toBe(200)
      expect(text).toContain('action="/docs/search"')
    }
  })

  test('stops on SIGTERM', async () => {
    served.command.kill('SIGTERM')
    expect(await served.command.ended).toEqual({ code: 0, signal: null })
  })
})

/** The members of records that are used here. */
type Row = { id: string; state: string; status: string; label: string; email: string }

type Served = {
  command: Command
  url: string
  env: Record<string, string>
  /** Credentials and settings of the sample directory, as callers send them. */
  as: { auth: { token: { token: string } }; settings: { base_url: string } }
  /** Calls the API as the admin, and returns the JSON answer. */
  core(at: string, body?: object, method?: string): Promise<Row & { items: Row[] }>
}

/** The e-mail addresses of a group's members, from the sample directory itself. */
async function membersOf({ auth, settings }: Served['as'], group: string): Promise<string[]> {
  const scim = async (at: string) => {
    const headers = { authorization: `Bearer ${auth.token.token}` }
    const { status, text } = await send(`${settings.base_url}${at}`, { headers })
    expect(status, text).toBe(200)
    return JSON.parse(text)
  }
  const { Resources: groups } = await scim(
    `/Groups?filter=${encodeURIComponent(`displayName eq "${group}"`)}`,
  )
  const ids: string[] = (groups[0]?.members ?? []).map((one: { value: string }) => one.value)
  const users = await Promise.all(ids.map((id) => scim(`/Users/${id}`)))
  return users.flatMap(({ emails }) => emails.map((one: { value: string }) => one.value))
}

/** Starts the server of the installed package with the sample. */
async function serve(): Promise<Served> {
  const sample = await freePort()
  const token = `lsk_${'t'.repeat(32)}`
  const env = {
    KEYWAY_DATA_DIR: path.join(home, 'data'),
    KEYWAY_ADMIN_TOKEN: token,
    KEYWAY_PRIVATE_EGRESS: `desk=127.0.0.1:${sample}`,
  }
  const args = ['start', '--sample', '--sample-port', String(sample)]
  const command = begin(args, { env: { ...env, PORT: '0' }, cwd: home, file })
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  const [, base_url = ''] = await command.prints(/"base_url":"([^"]+)"/)
  // The company is created through the core interface, so the database and its migrations are complete.
  await command.prints(/the sample company was created/)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return {
    command,
    url,
    env,
    as: { auth: { token: { token: 'sample-token' } }, settings: { base_url } },
    async core(at, body, method = body === undefined ? 'GET' : 'POST') {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const { text, status } = await send(`${url}${at}`, { method, headers, ...sent })
      expect(status, `${method} ${at}: ${text}`).toBeLessThan(300)
      return text === '' ? null : JSON.parse(text)
    },
  }
}

/** The cases of the created connector without those of one capability, which its author has yet to record. */
async function casesWithout(capability: string): Promise<string> {
  const file = JSON.parse(await readFile(path.join(home, 'desk', 'connector.cases.json'), 'utf8'))
  const cases = file.cases.filter((one: { capability: string }) => one.capability !== capability)
  return JSON.stringify({ ...file, cases }, null, 2)
}

test('verify finds its attacks, and contains one', async () => {
  const { output, code } = await run(['verify', '--only', 'import-runtime'], { file, cwd: home })
  expect(output).toContain('1 of 1 attacks contained')
  expect(code).toBe(0)
})
