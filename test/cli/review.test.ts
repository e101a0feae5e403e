/** `keyway review` against a running host; its evidence is checked by both verifiers. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serve } from '@hono/node-server'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, app, type CoreHost, domainOf, startCore } from '../core/host.ts'
import { other, sampleLines, written as sealed, signer } from '../core/reviews/evidence/made.ts'
import { hasPython, SCRIPT } from '../core/reviews/evidence/verdicts.ts'
import { until } from '../e2e/until.ts'
import type { Ended } from '../kit/commands.ts'
import { keyway as runCommand } from './keyway.ts'

const home = mkdtempSync(path.join(tmpdir(), 'keyway-review-'))
const FILE = path.join(home, 'quarter.jsonl')

let core: CoreHost
let server: Server
let url: string
let appId: string

beforeAll(async () => {
  core = await startCore()
  server = serve({ fetch: core.host.app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  appId = await app(core.db, 'Ledger')
  // The state after a complete sync.
  await core.db.execute(sql`
    insert into account_spans (domain_id, app_id, account_id, unique_identifier, account_type, since)
    select ${await domainOf(core.db)}, ${appId}, gen_random_uuid(), 'user-' || n, 'USER', now()
    from generate_series(1, 3) n`)
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  await core.stop()
  rmSync(home, { recursive: true, force: true })
})

const command = (...args: string[]) =>
  runCommand(args, { env: { KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN } })
const keyway = (...args: string[]) => command('review', ...args)
/** Runs the verifier that is written in Python. */
const python = (...args: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
    execFile('python3', [SCRIPT, ...args], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
const asked = (...args: string[]) => keyway(...args, '--url', url)

const fingerprint = async (): Promise<string> =>
  (await core.call('GET', '/.well-known/keyway-evidence-keys')).body.keys[0].fingerprint

const idOf = async () => (await core.call('GET', '/access_reviews')).body.items[0].id

test('a dry run of a launch says what would be reviewed, and creates nothing', async () => {
  const launch = ['launch', 'Second quarter', '--app', appId, '--deadline', '2999-06-30']
  const dry = await asked(...launch, '--type', 'ACCOUNTS', '--dry-run')
  expect(dry).toMatchObject({
    code: 0,
    out: expect.stringMatching(/nothing was created\):\n {2}Ledger/),
  })
  expect((await asked('list')).out).toMatch(/^There are no access reviews/)
  const made = await asked(...launch, '--type', 'ACCOUNTS', '--reviewers', 'APP_ADMINS')
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/1 app is being prepared/) })
  const twice = await asked(...launch)
  expect(twice).toMatchObject({
    code: 1,
    err: expect.stringMatching(/There is already an access review named “Second quarter”/),
  })
})

test('list and show print the progress of a review', async () => {
  const id = await idOf()
  // The review is in progress while its app is still being prepared.
  await until('the app of the review is IN_PROGRESS', async () =>
    (await asked('show', id)).out.includes('Ledger  IN_PROGRESS'),
  )
  expect((await asked('list')).out).toMatch(new RegExp(`^${id} {2}IN_PROGRESS {2}Second quarter `))
  expect((await asked('show', id)).out).toMatch(/Ledger {2}IN_PROGRESS: 3 OPEN\n {4}of 3 from/)
})

test('evidence is written in full, can be verified, and does not overwrite a file', async () => {
  const id = await idOf()
  const dry = await asked('evidence', id, '--out', FILE, '--dry-run')
  expect(dry.out).toMatch(/quarter\.jsonl would be written: Second quarter, IN_PROGRESS/)
  const page = path.join(home, 'quarter.html')
  const written = await asked('evidence', id, '--out', FILE, '--page', page)
  expect(readFileSync(page, 'utf8')).toMatch(
    /^<!doctype html>.*<title>Second quarter<.*<\/html>\n$/s,
  )
  expect(written).toMatchObject({
    code: 0,
    out: expect.stringMatching(/3 lines of 1 app: 3 OPEN\n(.*\n)* {2}The review had not ended/),
  })
  const [key = ''] = /^ {2}[0-9a-f]{64}$/m.exec(written.out) ?? []
  expect((await asked('evidence', id, '--out', FILE)).err).toMatch(/already exists; name another/)
  const words = await keyway('verify', FILE, '--key', key.trim())
  const verified = await keyway('verify', FILE, '--key', key.trim(), '--json')
  expect(words.out).toContain(`the activity log ended with ${JSON.parse(verified.out).log_head}\n`)
  expect(JSON.parse(verified.out)).toMatchObject({ final: false, states: { OPEN: 3 } })
  if (!hasPython) return
  const theirPage = path.join(home, 'theirs.html')
  const other = await python(FILE, '--key', key.trim(), '--page', theirPage)
  expect(JSON.parse(other.out)).toMatchObject({ final: false, states: { OPEN: 3 } })
  expect(readFileSync(theirPage, 'utf8')).toBe(readFileSync(page, 'utf8'))
})

test('both verifiers refuse to overwrite a file with --page, and refuse evidence without a page', async () => {
  const [good, bare] = [path.join(home, 'good.jsonl'), path.join(home, 'bare.jsonl')]
  writeFileSync(good, await sealed(sampleLines()))
  writeFileSync(bare, await sealed(sampleLines()))
  const key = signer.key.fingerprint
  for (const verifier of [(...args: string[]) => keyway('verify', ...args), python]) {
    if (verifier === python && !hasPython) continue
    const there = await verifier(good, '--key', key, '--page', bare)
    expect([there.code, there.out, there.err]).toEqual([
      1,
      '',
      expect.stringMatching(/bare\.jsonl already exists; name another with --page/),
    ])
    const page = path.join(home, 'none.html')
    const none = await verifier(bare, '--key', key, '--page', page)
    expect([none.code, none.out, none.err]).toEqual([
      1,
      '',
      expect.stringMatching(/bare\.jsonl has no page to read/),
    ])
    expect(existsSync(page)).toBe(false)
  }
  if (!hasPython) return
  const paged = await python(
    FILE,
    '--key',
    await fingerprint(),
    '--page',
    path.join(home, 'no', 'page.html'),
  )
  expect([paged.code, paged.out, paged.err]).toEqual([
    1,
    '',
    expect.stringMatching(/no.page\.html cannot be written: No such file/),
  ])
})

test('evidence is accepted if the key list of the host starts with the key of another secret', async () => {
  const fetch = async (request: Request) => {
    const answer = await core.host.app.fetch(request)
    if (!request.url.endsWith('/keyway-evidence-keys')) return answer
    const { keys } = JSON.parse(await answer.text())
    const { publicKey: public_key, fingerprint } = other.key
    return Response.json({ keys: [{ public_key, fingerprint }, ...keys] })
  }
  const beside = serve({ fetch, hostname: '127.0.0.1', port: 0 }) as Server
  if (!beside.listening) await new Promise((resolve) => beside.once('listening', resolve))
  const at = `http://127.0.0.1:${(beside.address() as AddressInfo).port}`
  const file = path.join(home, 'beside.jsonl')
  const written = await keyway('evidence', await idOf(), '--out', file, '--url', at)
  await new Promise((resolve) => beside.close(resolve))
  expect([written.err, written.code]).toEqual(['', 0])
  expect(written.out).toContain(await fingerprint())
})

test('evidence of the access of a person is written, and an unknown or missing person is refused', async () => {
  const { email } = (await core.call('GET', '/users/current')).body
  const file = path.join(home, 'access.jsonl')
  const flags = ['--url', url, '--out', file]
  const person = (...args: string[]) => command('person', ...args)
  const written = await person('evidence', email, ...flags)
  expect(written).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ {2}held as of 20\S+Z: 0\n/),
  })
  const nobody = await person('evidence', 'nobody@acme.example', ...flags, '--force')
  expect(nobody).toMatchObject({ code: 1, err: expect.stringMatching(/no person nobody@acme/) })
  const unnamed = await person('evidence', ...flags, '--force')
  expect(unnamed.err).toMatch(/Name a person by e-mail address, or an offboarding/)
})

test('a modified file is refused with exit code 1, and the changed line is named', async () => {
  const [first = '', second = '', ...rest] = readFileSync(FILE, 'utf8').split('\n')
  const file = path.join(home, 'touched.jsonl')
  writeFileSync(file, [first, second.replace(/"id":"./, '"id":"x'), ...rest].join('\n'))
  const key = '0'.repeat(64)
  const refused = await keyway('verify', file, '--key', key)
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringMatching(/touched\.jsonl is refused: line 2 was changed/),
  })
  const others = await keyway('verify', FILE, '--key', key)
  expect(others).toMatchObject({ code: 1, err: expect.stringMatching(/signed by another key/) })
  if (!hasPython) return
  const again = await python(file, '--key', key)
  expect(again).toMatchObject({
    code: 1,
    err: expect.stringMatching(/is refused: line 2 was changed/),
  })
})
