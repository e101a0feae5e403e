/** Cases that are recorded from OpenLDAP with the connector of the documentation about LDAP. */
import { cp, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FolderHost, openFolderHost } from '../../runtime/cli/folder-host.ts'
import { type Recorded, recordInto } from '../../runtime/cli/recording.ts'
import { readConfig } from '../../runtime/config/config.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { temporaryFolder } from '../connectors/registry/fixtures/folders.ts'
import { type Directory, noDirectory, startDirectory } from '../egress/ldap/directory.ts'

const title = noDirectory === null ? 'a directory' : `a directory: ${noDirectory}`

describe.skipIf(noDirectory !== null)(title, () => {
  let directory: Directory
  let folder: string
  let opened: FolderHost
  let bench: CheckBench
  let idle: () => Promise<void>
  const recordings: Recorded[] = []
  const lines: string[] = []

  beforeAll(async () => {
    directory = await startDirectory({ PAGE: '1000' })
    folder = path.join(temporaryFolder(), 'staff')
    await cp(path.join(import.meta.dirname, '..', '..', 'plugin-template', 'ldap'), folder, {
      recursive: true,
    })
    await rm(path.join(folder, 'connector.cases.json'))
    const config = readConfig({
      KEYWAY_DATA_DIR: temporaryFolder(),
      KEYWAY_PRIVATE_EGRESS: `staff=${new URL(directory.url).host}`,
      KEYWAY_LOG_LEVEL: 'silent',
      PORT: '0',
    })
    const recording = recordInto(folder, (one) => recordings.push(one))
    idle = recording.idle
    opened = await openFolderHost(folder, config, createLog('silent'), {}, recording)
    recording.use(opened.host)
    await opened.host.settled
    bench = await openCheckBench()
  })
  afterAll(async () => {
    await opened?.host.stop()
    await opened?.leave()
    await bench?.close()
    await directory?.stop()
  })

  async function called(capability: string, request: object, more: object = {}, password = '') {
    const { bindDn } = directory.auth
    const answered = await opened.host
      .invoke({
        connectorId: 'staff',
        capability,
        text: JSON.stringify({
          auth: { basic: { username: bindDn, password: password || directory.auth.password } },
          settings: { url: directory.url, base_dn: directory.baseDn },
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
    lines.push(JSON.stringify(recordings.at(-1)))
    return answered
  }

  const member = () => ({
    account_integration_specific_id: `cn=Doe\\, Jane,ou=people,${directory.baseDn}`,
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'GROUP',
    entitlement_integration_specific_id: `cn=sales,ou=groups,${directory.baseDn}`,
  })

  test('calls, pages and refusals are recorded as cases that pass and do not contain the password', async () => {
    await called('validate_credentials', {})
    await called('validate_credentials', {}, { include_raw_data: false }, 'a wrong password')
    const first = await called('list_accounts', {}, { page: { size: 40 } })
    await called('list_accounts', {}, { page: { size: 40, token: first.page.token } })
    await called('assign_entitlement', member())
    expect(recordings.map((one) => ('refused' in one ? one.refused : null))).toEqual(
      recordings.map(() => null),
    )
    const text = await readFile(path.join(folder, 'connector.cases.json'), 'utf8')
    expect(text).not.toContain(directory.auth.password)
    expect(text).not.toContain('a wrong password')
    expect(text).toContain('attributeOrValueExists')
    const checked = await bench.check(folder)
    expect(checked.findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(checked.passed.length).toBeGreaterThan(2)
  })
})
