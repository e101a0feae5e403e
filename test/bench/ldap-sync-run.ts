/**
 * Syncs a directory of many people with a real host, and reads the same by ldapts alone. The last phase of a sync, which
 * asks for each person when it signed in last, is left out: it lasts as long as the connector's pace says.
 */
import path from 'node:path'
import { Client } from 'ldapts'
import { begin, newHome } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { startAnother } from '../egress/ldap/directory.ts'
import { memoryOf } from './processes.ts'
import { latest, login, send, TOKEN } from './sync-run.ts'

/** Groups that each person is in. */
export const HELD = 3
const PAGE = 1000

export type LdapSyncReport = {
  /** From the request until all people, groups and memberships are there. */
  syncMs: number
  /** People and groups with their members, read by ldapts alone. */
  clientMs: number
  /** Host and workers together, ten times a second, in the order of the run. */
  memoryMb: number[]
  /** What is not as the directory has it; empty for the exact result. */
  wrong: string[]
}

export async function runLdapSync(people: number): Promise<LdapSyncReport> {
  const directory = await startAnother({ PAGE: String(PAGE), CROWD: String(people) })
  const { url, baseDn, auth } = directory
  const address = new URL(url).host
  const dataDir = path.join(await newHome(), 'data')
  const command = begin(['start'], {
    env: {
      PORT: '0',
      KEYWAY_DATA_DIR: dataDir,
      KEYWAY_ADMIN_TOKEN: TOKEN,
      KEYWAY_REQUESTS_PER_MINUTE: '1000000',
      KEYWAY_PRIVATE_EGRESS: `ldap=${address}`,
      KEYWAY_PLAIN_LDAP: `ldap=${address}`,
    },
  })
  try {
    const [, host = ''] = await command.prints(/"url":"([^"]+)"/)
    await until('it is ready', async () => (await fetch(`${host}/readyz`)).status === 200, 120_000)
    const app = await send(host, 'POST', '/apps', {
      app_class_id: 'ldap',
      auth: { username: auth.bindDn, password: auth.password },
      settings: {
        url,
        people_dn: `ou=crowd,${baseDn}`,
        groups_dn: `ou=crowds,${baseDn}`,
        page_size: PAGE,
      },
    })
    const clientMs = await readAlone(url, baseDn, auth)
    const memoryMb: number[] = []
    const begunMs = performance.now()
    await send(host, 'POST', `/apps/${app.id}/sync`, { sync_type: 'full_sync' })
    let run = await latest(host)
    while (run.state === 'RUNNING' && run.phase !== 'activity') {
      // The cast: a started command has what is looked at, its number.
      const { hostMb, workersMb } = memoryOf({ pid: command.pid } as never)
      memoryMb.push(hostMb + workersMb)
      await new Promise((resolve) => setTimeout(resolve, 100))
      run = await latest(host)
    }
    const syncMs = performance.now() - begunMs
    const database = await login(dataDir)
    const { rows } = await database.query(
      `select (select count(*) from accounts where gone_at is null) as accounts,
        (select count(distinct unique_identifier) from accounts
          where email like 'crowd%@example.test') as right_accounts,
        (select count(*) from associations) as associations`,
    )
    await database.end()
    const expected = { accounts: people, right_accounts: people, associations: people * HELD }
    const wrong = Object.entries(expected)
      .filter(([name, count]) => Number(rows[0][name]) !== count)
      .map(([name, count]) => `${name}: ${rows[0][name]} instead of ${count}`)
    if (run.state !== 'SUCCEEDED' && run.phase !== 'activity')
      wrong.push(`the run ${run.state}: ${run.problem}`)
    return { syncMs, clientMs, memoryMb, wrong }
  } finally {
    command.kill('SIGTERM')
    await command.ended
    await directory.stop()
  }
}

/** How long ldapts alone takes to read all people and all groups, in milliseconds. */
async function readAlone(
  url: string,
  baseDn: string,
  auth: { bindDn: string; password: string },
): Promise<number> {
  const client = new Client({ url })
  await client.bind(auth.bindDn, auth.password)
  const begunMs = performance.now()
  for (const [ou, attributes] of [
    ['crowd', ['uid', 'mail', 'givenName', 'sn', 'cn', 'displayName', 'entryUUID']],
    ['crowds', ['cn', 'member']],
  ] as const)
    for await (const { searchEntries } of client.searchPaginated(`ou=${ou},${baseDn}`, {
      attributes: [...attributes],
      paged: { pageSize: PAGE },
    }))
      if (searchEntries.length === 0) throw new Error(`ou=${ou} is empty`)
  const tookMs = performance.now() - begunMs
  await client.unbind()
  return tookMs
}
