/** `keyway install` lists the host settings that a connector may need, ready to copy. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packaged } from '../connectors/lifecycle/packaging.ts'
import { signedIn } from '../http/settings/visitor.ts'
import { type Running, startRunning } from './keyway.ts'

let host: Running
beforeAll(async () => {
  host = await startRunning({
    KEYWAY_PRIVATE_EGRESS: 'other=10.0.0.9:443 known=10.0.0.5:8443',
    KEYWAY_INSTALL: 'any',
  })
})
afterAll(() => host.stop())

const settings = { host: { type: 'string', format: 'hostname' } }
const saved = async (id: string, egress: object[]) =>
  host.saved(await packaged({ id, egress, settings }))

test('settings for a server that an app names, and for LDAP without TLS, include the current entries', async () => {
  const file = await saved('staff', [
    { url: 'https://{settings.host}/api' },
    { ldap: 'ldap://{settings.host}', base: 'dc=acme' },
  ])
  const { out } = await host.keyway('install', file, '--dry-run')
  expect(out).toContain(
    'Restart the host with the settings that apply; replace HOST and PORT with those of the server:\n',
  )
  expect(out).toContain(
    "private network: KEYWAY_PRIVATE_EGRESS='other=10.0.0.9:443 known=10.0.0.5:8443 staff=HOST:443 staff=HOST:389'\n",
  )
  expect(out).toContain('in plain text: KEYWAY_PLAIN_LDAP=staff=HOST:389\n')

  expect((await host.keyway('install', file, '--grant-all')).code).toBe(0)
  const { answer } = await host.json('install', file, '--dry-run')
  expect(answer.package.host_settings).toEqual([
    { name: 'KEYWAY_PRIVATE_EGRESS', entry: 'staff=HOST:443', open: true },
    { name: 'KEYWAY_PRIVATE_EGRESS', entry: 'staff=HOST:389', open: true },
    { name: 'KEYWAY_PLAIN_LDAP', entry: 'staff=HOST:389', open: true },
  ])
  const visitor = await signedIn(host.core)
  const { text } = await visitor.get(`/console/connectors/staff/versions/${answer.package.digest}`)
  expect(text).toContain('Settings that the host may need')
  expect(text).toContain('staff=HOST:443 staff=HOST:389')
})

test('servers that are already allowed, and public ones, are not listed', async () => {
  for (const url of ['https://10.0.0.5:8443', 'https://api.acme.example']) {
    const { code, out } = await host.keyway('install', await saved('known', [{ url }]), '--dry-run')
    expect([code, out]).toEqual([0, expect.stringContaining('known 1.0.0: ')])
    expect(out).not.toContain('settings that apply')
  }
  const other = await saved('known', [{ url: 'https://10.0.0.6:8443' }])
  const { out } = await host.keyway('install', other, '--dry-run')
  expect(out).toContain('Restart the host with the settings that apply:\n')
  expect(out).toContain("'other=10.0.0.9:443 known=10.0.0.5:8443 known=10.0.0.6:8443'\n")
})
