/** `keyway grant`, `revoke`, `probe`, `publishers`, `trust`, `distrust`, `nodes`, `release`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { casesFor, LISTING, packaged, publisher } from '../connectors/lifecycle/packaging.ts'
import { type Running, startRunning } from './keyway.ts'

/** Serves one region only. */
const PICKY = LISTING('1.0.0')
  .replace(
    'async validate_credentials() {',
    `async validate_credentials(_input, context) {
    if (context.settings.region !== 'here') throw new ConnectorError('unauthenticated', 'not from there')`,
  )
  .replace('import { ', 'import { ConnectorError, ')
const CAPABILITIES = { validate_credentials: {}, list_accounts: {} }

let host: Running
let file: string

beforeAll(async () => {
  host = await startRunning()
  const settings = { region: { type: 'string' } }
  const cases = casesFor(CAPABILITIES, { validate_credentials: { settings: { region: 'here' } } })
  file = await host.install(await packaged({ capabilities: CAPABILITIES, settings }, PICKY, cases))
})
afterAll(() => host.stop())

describe('keyway grant and revoke', () => {
  test('take the name of a want, and report what changed', async () => {
    const revoked = await host.keyway(
      'revoke',
      'acme',
      'capability list_accounts',
      '--reason',
      'no',
    )
    expect(revoked.out).toContain('acme: may no longer offer list_accounts')
    expect((await host.keyway('show', 'acme')).out).toMatch(/^ {2}! capability list_accounts$/m)
    const dry = await host.keyway('grant', 'acme', 'capability', '--dry-run')
    expect(dry.out).toMatch(/nothing was changed\):\n {2}acme: may offer list_accounts/)
    const granted = await host.json('grant', 'acme', 'all')
    expect(granted).toMatchObject({ code: 0, answer: { changed: true, converged: true } })
    expect((await host.keyway('show', 'acme')).out).not.toContain('  ! ')
  })

  test('list the existing names if a name is unknown', async () => {
    const { code, err } = await host.keyway('revoke', 'acme', 'egress https://typo.example')
    expect(code).toBe(1)
    expect(err).toMatch(/nothing there is called "egress https:\/\/typo\.example"; there are/)
    expect(err).toContain('egress https://api.acme.example')
  })
})

describe('keyway probe', () => {
  test('tries credentials, stores them, and forgets them', async () => {
    const here = { auth: { token: { token: 'probe-token' } }, settings: { region: 'here' } }
    const good = await host.file('good.json', here)
    const bad = await host.file('bad.json', { ...here, settings: { region: 'there' } })
    const tried = await host.keyway('probe', 'acme', '--as', bad, '--dry-run')
    expect(tried).toMatchObject({ code: 1, out: expect.stringContaining('not from there') })
    expect((await host.keyway('probe', 'acme', '--as', good, '--dry-run')).code).toBe(0)
    expect((await host.keyway('show', 'acme')).out).toContain('No probe:')
    expect((await host.keyway('probe', 'acme', '--as', good)).code).toBe(0)
    const { out } = await host.keyway('show', 'acme')
    expect(out).toContain('tried with the credentials of the probe')
    expect(out).not.toContain('probe-token')
    expect((await host.keyway('probe', 'acme', '--forget')).out).toMatch(
      /no credentials are stored/,
    )
    expect((await host.json('show', 'acme')).answer.probe).toBe(false)
  })

  test('requires --as without a terminal, and says what the file must contain', async () => {
    expect((await host.keyway('probe', 'acme')).err).toContain('give the credentials with --as')
    const odd = await host.file('odd.json', { token: 'x' })
    expect((await host.keyway('probe', 'acme', '--as', odd)).err).toContain('there is no token')
  })
})

describe('keyway trust and distrust', () => {
  test('make the packages signed by a key trusted, then invalid', async () => {
    expect((await host.keyway('publishers')).out).toMatch(/^No publisher is trusted/)
    const key = await host.file('acme.key.pub', publisher.publicKey)
    const trusted = await host.keyway('trust', key, '--name', 'Acme Inc.')
    expect(trusted.out).toMatch(/publisher Acme Inc\.: trusted \(key [\w-]{22}\)/)
    expect(trusted.out).toContain('1.0.0 is trusted now')
    expect((await host.keyway('publishers')).out).toContain(publisher.id)
    const gone = await host.keyway('distrust', publisher.id, '--reason', 'it leaked')
    expect(gone.out + gone.err).toContain('1.0.0 is invalid now')
    expect((await host.keyway('publishers')).out).toContain('no longer trusted since')
    expect((await host.keyway('install', file)).err).toMatch(/the signature is invalid/)
    await host.keyway('trust', key, '--name', 'Acme Inc.')
  })

  test('refuse a private key, and a file that is not a public key', async () => {
    const key = await host.file('acme.key', publisher.privateKey)
    expect(await host.keyway('trust', key, '--name', 'x')).toMatchObject({
      code: 1,
      err: expect.stringContaining('acme.key.pub'),
    })
    expect((await host.keyway('trust', file, '--name', 'x')).err).toContain('is not a public key')
  })
})

test('keyway nodes shows this host with the generation that it serves', async () => {
  const { generation, items } = (await host.json('nodes')).answer
  expect(items).toEqual([expect.objectContaining({ generation, live: true, problems: [] })])
  expect((await host.keyway('nodes')).out).toMatch(/^HOST +GENERATION +SEEN/)
})

test('keyway release says that there is nothing to release', async () => {
  expect((await host.keyway('release', 'acme')).out).toMatch(/neither under suspicion nor/)
  expect((await host.json('release', 'acme', '--dry-run')).answer).toEqual({
    id: 'acme',
    would_release: false,
    reason: null,
  })
  expect((await host.keyway('release', 'nobody', '--dry-run')).code).toBe(1)
})

test('keyway login-link prints JSON with --json', async () => {
  const { answer } = await host.json('login-link')
  expect(answer).toMatchObject({ email: 'admin@localhost', url: expect.stringContaining(host.url) })
})
