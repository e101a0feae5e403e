/** The text that operators read before they agree. It must state exactly what a change does. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { switched } from '../../../runtime/connectors/lifecycle/desired-state.ts'
import { describeWants, difference } from '../../../runtime/connectors/lifecycle/difference.ts'
import { checkManifest } from '../../../runtime/connectors/registry/check-manifest.ts'
import { wantsOf } from '../../../runtime/connectors/registry/requested-grant.ts'
import { NOTHING_INSTALLED } from '../../../runtime/contract/endpoints/generation.ts'
import { manifestOf } from '../registry/fixtures/folders.ts'

test('a capability that only reads is not listed with the write methods of another', () => {
  const capabilities = { list_accounts: {}, get_account: {}, create_account: {} }
  const checked = checkManifest(JSON.stringify(manifestOf({ capabilities })), () => [])
  if (!checked.ok) throw new Error(checked.findings.join('; '))
  const wants = wantsOf(checked.manifest)
  const sent = describeWants(wants.filter(({ kind }) => kind === 'egress'))
  expect(sent).toEqual([
    'send GET, HEAD to https://api.acme.example (for get_account, list_accounts)',
    'send DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT to https://api.acme.example (for create_account)',
  ])
})

test('a database statement is described as run, not as sent to a URL', () => {
  const text = readFileSync('plugin-template/sql/connector.json', 'utf8')
  const checked = checkManifest(text, () => [])
  if (!checked.ok) throw new Error(checked.findings.join('; '))
  const wants = wantsOf(checked.manifest).filter(({ words }) => words.startsWith('people '))
  expect(describeWants(wants)).toEqual([
    'run people in {settings.database} at {settings.url} as auth: only reading: select id, login, mail from people where id > $1 order by id limit $2 (for assign_entitlement, list_accounts, validate_credentials)',
  ])
})

test('a built-in connector is described as disabled or enabled, never as removed', () => {
  const off = switched(NOTHING_INSTALLED, 'scim', { disabled: true, atOnce: false })
  const on = switched(off, 'scim', { disabled: false, atOnce: false })
  expect(difference(NOTHING_INSTALLED, off)).toEqual(['scim: disabled for new calls'])
  expect(difference(off, on)).toEqual(['scim: enabled'])
})
