/** Cases of requests to directories: those of the documentation about LDAP, and faulty variants of them. */
import { cp, readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { temporaryFolder, write } from '../connectors/registry/fixtures/folders.ts'

const SHOWN = path.join(import.meta.dirname, '..', '..', 'plugin-template', 'ldap')

let bench: CheckBench
beforeAll(async () => {
  bench = await openCheckBench()
})
afterAll(() => bench.close())

/** The findings for the connector of the documentation with a changed case. */
async function findings(name: string, change: (exchange: Exchange) => void): Promise<string[]> {
  const directory = temporaryFolder()
  await cp(SHOWN, directory, { recursive: true })
  const file = path.join(directory, 'connector.cases.json')
  const { cases, ...head } = JSON.parse(await readFile(file, 'utf8'))
  const one = cases.find((each: { name: string }) => each.name === name)
  change(one.upstream[0])
  await write(directory, { 'connector.cases.json': JSON.stringify({ ...head, cases }) })
  const checked = await bench.check(directory)
  return checked.findings
    .filter(({ severity }) => severity === 'error')
    .map(({ where, message }) => `${where}: ${message}`)
}
type Exchange = { request: string; body?: unknown; reply: { body: object } }

const MEMBER = 'a member already'

test('the connector of the documentation passes its cases', async () => {
  const checked = await bench.check(SHOWN)
  expect(checked.findings.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(checked.passed).toHaveLength(5)
})

test.each<[string, (exchange: Exchange) => void, RegExp]>([
  [
    'an entry that is never requested',
    (one) => (one.request = 'MODIFY /cn=other,ou=groups,dc=acme'),
    /unexpected request MODIFY \/cn=R%26D%20%C3%BC,ou=groups,dc=acme; expected MODIFY \/cn=other/,
  ],
  [
    'another operation',
    (one) => (one.request = one.request.replace('MODIFY', 'ADD')),
    /unexpected request MODIFY/,
  ],
  [
    'other values',
    (one) => (one.body = { changes: [{ add: { member: ['uid=eve,dc=acme'] } }] }),
    /member\[0\].*uid=eve/,
  ],
  [
    'an unknown result code',
    (one) => (one.reply.body = { result: 'entryExists' }),
    /entryExists, which is no result of LDAP/,
  ],
  [
    'a result that the connector treats as an error',
    (one) => (one.reply.body = { result: 'insufficientAccessRights' }),
    /permission_denied/,
  ],
])('finds %s', async (_what, change, finding) => {
  expect((await findings(MEMBER, change)).join('\n')).toMatch(finding)
})
