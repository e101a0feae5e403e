/** Cases of requests to databases: those of the documentation, faulty variants of them, and recorded ones. */
import { cp, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FolderHost, openFolderHost } from '../../runtime/cli/folder-host.ts'
import { type Recorded, recordInto } from '../../runtime/cli/recording.ts'
import { readConfig } from '../../runtime/config/config.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { temporaryFolder, write } from '../connectors/registry/fixtures/folders.ts'
import { type Database, noDatabase, startDatabase } from '../egress/sql/database.ts'

const SHOWN = path.join(import.meta.dirname, '..', '..', 'plugin-template', 'sql')

let bench: CheckBench
beforeAll(async () => {
  bench = await openCheckBench()
})
afterAll(() => bench.close())

const errorsOf = ({ findings }: Awaited<ReturnType<CheckBench['check']>>) =>
  findings
    .filter(({ severity }) => severity === 'error')
    .map(({ where, message }) => `${where}: ${message}`)

type Exchange = { request: string; body?: unknown; reply: { body: object } }

/** The findings for the connector of the documentation with a changed case. */
async function findings(name: string, change: (exchange: Exchange) => void): Promise<string[]> {
  const directory = temporaryFolder()
  await cp(SHOWN, directory, { recursive: true })
  const file = path.join(directory, 'connector.cases.json')
  const { cases, ...head } = JSON.parse(await readFile(file, 'utf8'))
  change(cases.find((each: { name: string }) => each.name === name).upstream[0])
  await write(directory, { 'connector.cases.json': JSON.stringify({ ...head, cases }) })
  return errorsOf(await bench.check(directory))
}

test('the connector of the documentation passes its cases', async () => {
  const checked = await bench.check(SHOWN)
  expect(errorsOf(checked)).toEqual([])
  expect(checked.passed).toHaveLength(5)
})

test.each<[string, (exchange: Exchange) => void, RegExp]>([
  [
    'a statement that is never requested',
    (one) => (one.request = 'EXECUTE /revoke_role'),
    /unexpected request EXECUTE \/grant_role; expected EXECUTE \/revoke_role/,
  ],
  ['another operation', (one) => (one.request = 'QUERY /grant_role'), /unexpected request EXECUTE/],
  [
    'other names',
    (one) => (one.body = { parameters: [], names: { role: 'writers', member: "o'brien" } }),
    /names\.role.*writers/,
  ],
  [
    'an unknown error',
    (one) => (one.reply.body = { error: 'duplicate' }),
    /duplicate, which is no code of a database/,
  ],
  ...(
    [
      [{ touched: 1 }, /touched that is no list of numbers: write \{ "rows"/],
      [{ rows: { id: 1 } }, /rows that are no list/],
      [{}, /neither rows nor touched/],
      [[], /answered a list/],
    ] as const
  ).map(([body, said]): [string, (one: Exchange) => unknown, RegExp] => [
    `a reply that no database gives: ${JSON.stringify(body)}`,
    (one) => (one.reply.body = body),
    said,
  ]),
  [
    'an error that the connector does not expect',
    (one) => (one.reply.body = { error: '42501' }),
    /permission_denied/,
  ],
])('finds %s', async (_what, change, finding) => {
  expect((await findings('a role of a name with a quote', change)).join('\n')).toMatch(finding)
})

describe.skipIf(noDatabase !== null)(`PostgreSQL${noDatabase ? `: ${noDatabase}` : ''}`, () => {
  let database: Database
  let folder: string
  let opened: FolderHost
  let idle: () => Promise<void>
  const recordings: Recorded[] = []

  beforeAll(async () => {
    database = await startDatabase()
    const { host, port } = database
    const admin = new pg.Client({
      ...{ host, port, database: 'corp' },
      ...{ user: 'admin', password: 'admin-secret', ssl: false },
    })
    await admin.connect()
    await admin.query(
      "create table people as select n id, 'user' || n login, null::text mail from generate_series(1, 30) n",
    )
    await admin.query('grant select on people to connector')
    await admin.end()
    folder = path.join(temporaryFolder(), 'hr')
    await cp(SHOWN, folder, { recursive: true })
    await rm(path.join(folder, 'connector.cases.json'))
    const config = readConfig({
      KEYWAY_DATA_DIR: temporaryFolder(),
      KEYWAY_PRIVATE_EGRESS: `hr=${host}:${port}`,
      KEYWAY_LOG_LEVEL: 'silent',
      PORT: '0',
    })
    const recording = recordInto(folder, (one) => recordings.push(one))
    idle = recording.idle
    opened = await openFolderHost(folder, config, createLog('silent'), {}, recording)
    recording.use(opened.host)
    await opened.host.settled
  })
  afterAll(async () => {
    await opened?.host.stop()
    await opened?.leave()
    await database?.stop()
  })

  async function called(capability: string, request: object, more: object = {}, password = '') {
    const { username } = database.auth
    const answered = await opened.host
      .invoke({
        connectorId: 'hr',
        capability,
        text: JSON.stringify({
          auth: { basic: { username, password: password || database.auth.password } },
          settings: { url: `postgresql://127.0.0.1:${database.port}`, database: 'corp' },
          request,
          ...more,
        }),
        requestId: 'r',
        signal: new AbortController().signal,
      })
      .then(
        ({ body }) => JSON.parse(String(body)),
        (error: Error) => error,
      )
    await idle()
    return answered
  }

  test('calls, pages and refusals are recorded as cases that pass and do not contain the password', async () => {
    await called('validate_credentials', {})
    await called('validate_credentials', {}, { include_raw_data: false }, 'a wrong password')
    const first = await called('list_accounts', {}, { page: { size: 20 } })
    await called('list_accounts', {}, { page: { size: 20, token: first.page.token } })
    await called('assign_entitlement', {
      account_integration_specific_id: 'Doe, Jane',
      resource_integration_specific_id: '',
      resource_type: '',
      entitlement_type: 'ROLE',
      entitlement_integration_specific_id: 'readers',
    })
    expect(recordings.map((one) => ('refused' in one ? one.refused : null))).toEqual(
      recordings.map(() => null),
    )
    const text = await readFile(path.join(folder, 'connector.cases.json'), 'utf8')
    expect(text).not.toContain(database.auth.password)
    expect(text).not.toContain('a wrong password')
    expect(text).toContain('28P01')
    const checked = await bench.check(folder)
    expect(errorsOf(checked)).toEqual([])
    expect(checked.passed.length).toBeGreaterThan(2)
  })
})
