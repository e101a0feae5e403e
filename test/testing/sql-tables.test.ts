/** The template for tables of people, from its own README to a real PostgreSQL. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FolderHost, openFolderHost } from '../../runtime/cli/folder-host.ts'
import { readConfig } from '../../runtime/config/config.ts'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { temporaryFolder } from '../connectors/registry/fixtures/folders.ts'
import { type Database, noDatabase, startDatabase } from '../egress/sql/database.ts'

const FOLDER = path.join(import.meta.dirname, '..', '..', 'plugin-template', 'sql-tables')

describe.skipIf(noDatabase !== null)(`PostgreSQL${noDatabase ? `: ${noDatabase}` : ''}`, () => {
  let database: Database
  let opened: FolderHost

  beforeAll(async () => {
    database = await startDatabase()
    const { host, port } = database
    const admin = new pg.Client({
      ...{ host, port, database: 'corp' },
      ...{ user: 'admin', password: 'admin-secret', ssl: false },
    })
    await admin.connect()
    const readme = await readFile(path.join(FOLDER, 'README.md'), 'utf8')
    const [tables = '', login = ''] = [...readme.matchAll(/```\n([\s\S]*?)```/g)].map(
      ([, one]) => one,
    )
    await admin.query(tables)
    await admin.query(
      login.replace(/^create role .*$/m, '').replaceAll('to keyway', 'to connector'),
    )
    await admin.query("insert into groups (title) values ('Sales'), ('Support')")
    await admin.end()
    const config = readConfig({
      KEYWAY_DATA_DIR: temporaryFolder(),
      KEYWAY_PRIVATE_EGRESS: `crm=${host}:${port}`,
      KEYWAY_LOG_LEVEL: 'silent',
      PORT: '0',
    })
    opened = await openFolderHost(FOLDER, config, createLog('silent'), {})
    await opened.host.settled
  })
  afterAll(async () => {
    await opened?.host.stop()
    await opened?.leave()
    await database?.stop()
  })

  /** Calls a capability; returns its response, or the code of its error. */
  const call = (capability: string, request: object = {}) =>
    opened.host
      .invoke({
        connectorId: 'crm',
        capability,
        text: JSON.stringify({
          auth: { basic: database.auth },
          settings: { url: `postgresql://127.0.0.1:${database.port}`, database: 'corp' },
          request,
        }),
        requestId: 'r',
        signal: new AbortController().signal,
      })
      .then(
        ({ body }) => JSON.parse(String(body)).response,
        (error: unknown) => {
          if (!(error instanceof RuntimeError)) throw error
          return `${error.details.wire ?? error.code} ${error.details.appErrorCode ?? ''}`.trim()
        },
      )

  const grant = (account: string, group: string) => ({
    account_integration_specific_id: account,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'GROUP',
    entitlement_integration_specific_id: group,
  })

  test('a person is created, changed, put into groups, switched off and deleted', async () => {
    expect(await call('validate_credentials')).toMatchObject({ valid: true })
    expect(await call('list_entitlements')).toMatchObject([
      { label: 'Sales' },
      { label: 'Support' },
    ])
    const ofGroup = (id: string) => ({ entitlement_type: 'GROUP', integration_specific_id: id })
    const ada = { username: 'ada', email: 'ada@acme.example', given_name: 'Ada' }
    expect(await call('create_account', { ...ada, entitlements: [ofGroup('99')] })).toBe(
      'not_found 23503',
    )
    expect(await call('list_accounts')).toEqual([])
    const { id } = await call('create_account', { ...ada, entitlements: [ofGroup('1')] })
    expect(await call('create_account', { ...ada, entitlements: [] })).toBe('bad_request 23505')

    expect(await call('update_account', { id, email: '', family_name: 'Lovelace' })).toMatchObject({
      id,
    })
    expect(await call('get_account', { account_id: id })).toMatchObject({
      username: 'ada',
      email: null,
      given_name: 'Ada',
      family_name: 'Lovelace',
      user_status: 'ACTIVE',
    })

    for (const group of ['2', '2'])
      expect(await call('assign_entitlement', grant(id, group))).toEqual({ assigned: true })
    for (const group of ['1', '1'])
      expect(await call('unassign_entitlement', grant(id, group))).toEqual({ unassigned: true })
    expect(await call('find_entitlement_associations')).toEqual([
      {
        account_id: id,
        integration_specific_entitlement_id: '2',
        integration_specific_resource_id: '',
      },
    ])

    expect(await call('deactivate_account', { account_id: id })).toMatchObject({
      deactivated: true,
    })
    expect(await call('list_accounts')).toMatchObject([{ user_status: 'SUSPENDED' }])
    expect(await call('activate_account', { account_id: id })).toMatchObject({ activated: true })
    expect(await call('delete_account', { account_id: id })).toMatchObject({ deleted: true })
    expect(await call('find_entitlement_associations')).toEqual([])
  })

  test.each(['999', '07', 'x', '', '9'.repeat(30)])(
    'an account of the id %j is not found',
    async (id) => {
      const one = { account_id: id }
      for (const capability of [
        'get_account',
        'activate_account',
        'deactivate_account',
        'delete_account',
      ])
        expect([capability, await call(capability, one)]).toEqual([capability, 'not_found'])
      expect(await call('update_account', { id, email: 'x@acme.example' })).toBe('not_found')
      expect(await call('assign_entitlement', grant(id, '1'))).toMatch(/^not_found/)
      expect(await call('unassign_entitlement', grant(id, '1'))).toBe('not_found')
    },
  )
})
