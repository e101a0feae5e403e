/** Tests the commands that maintain the database, as an operator uses them next to a running host. */
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastBackup } from '../../runtime/database/backup/backup-record.ts'
import { forgetDatabase } from '../database/forget.ts'
import { withFirstStart } from '../kit/template.ts'
import { send } from './client.ts'
import { begin, newHome, run, stopCommands } from './command.ts'
import { until } from './until.ts'

let home: string

beforeAll(async () => {
  home = await newHome()
  await withFirstStart(path.join(home, 'data'))
})
afterAll(async () => {
  await stopCommands()
  await forgetDatabase(path.join(home, 'second'))
})

const settings = (name: string, more: Record<string, string> = {}) => ({
  env: { PORT: '0', KEYWAY_DATA_DIR: path.join(home, name), KEYWAY_DROP_IN: 'off', ...more },
})

async function start(name: string, more: Record<string, string> = {}) {
  const command = begin(['start'], settings(name, more))
  const [, url = ''] = await command.prints(/"url":"([^"]+)"/)
  await until('the host is ready', async () => (await send(`${url}/readyz`, {})).status === 200)
  return { command, url }
}

test('a backup of a running host is restored elsewhere, where its tokens are valid', async () => {
  const file = path.join(home, 'backups', 'keyway.tar.gz')
  const first = await start('data')
  const secret = (await readFile(path.join(home, 'data', 'secret'), 'utf8')).trim()
  const token = (await readFile(path.join(home, 'data', 'admin-token'), 'utf8')).trim()
  const authorization = `Bearer ${token}`
  const me = async (url: string) =>
    JSON.parse((await send(`${url}/users/current`, { headers: { authorization } })).text)
  const { id } = await me(first.url)
  const group = await send(`${first.url}/users/${id}/roles/Auditor`, {
    method: 'POST',
    headers: { authorization },
  })
  expect(group.status).toBe(201)

  for (const dryRun of [[], ['--dry-run']])
    expect(await run(['backup', file, ...dryRun], settings('data'))).toMatchObject({
      code: 1,
      output: expect.stringContaining(
        `the folder ${path.dirname(file)} for the backup does not exist; create it, mount its disk, or name another`,
      ),
    })
  expect(existsSync(path.dirname(file))).toBe(false)
  await mkdir(path.dirname(file))
  const dry = await run(['backup', file, '--dry-run', '--json'], settings('data'))
  expect(JSON.parse(dry.output)).toEqual({ file, key_id: expect.any(String) })
  const dataDir = settings('data').env.KEYWAY_DATA_DIR
  expect(await lastBackup(dataDir)).toBe(null)
  const taken = await run(['backup', file], settings('data'))
  expect(taken.output).toMatch(
    /^Wrote .*keyway\.tar\.gz: [1-9][\d.]+ kB, \d+ rows of \d+ tables, everything until/,
  )
  expect(taken.output).toMatch(/needs the secret with the key id [0-9a-f]{16}.*data\/secret/)
  expect(taken.output).not.toContain(secret)
  expect(taken.code).toBe(0)
  const note = await lastBackup(dataDir)
  expect(taken.output).toContain(`everything until ${note?.complete_until}`)

  const env = { KEYWAY_SECRET: secret }
  const whole = await run(['restore', file, '--dry-run'], settings('second', env))
  expect(whole).toMatchObject({
    code: 0,
    output: expect.stringMatching(/is complete and fits \(nothing was changed\): [\d.]+ MB/),
  })
  const again = await run(['backup', file, '--dry-run'], settings('data'))
  expect(again).toMatchObject({ code: 1, output: expect.stringContaining('already exists') })
  const [running, restored, own, verified] = await Promise.all([
    run(['restore', file], settings('data')),
    run(['restore', file], settings('second', env)),
    run(['backup', file], settings('data', { DATABASE_URL: 'postgres://bob:hunter2@db/keyway' })),
    run(['audit', 'verify'], settings('data')),
  ])
  expect(running).toMatchObject({
    code: 1,
    output: expect.stringMatching(new RegExp(`is used by the process ${first.command.pid}`)),
  })
  expect(own).toMatchObject({ code: 1, output: expect.stringMatching(/pg_dump --host=db/) })
  expect(own.output).not.toContain('hunter2')
  expect(verified).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^The log is intact: 3 rows\.\nIts last hash is [0-9a-f]{128}\n/),
  })
  const [, head = ''] = /hash is ([0-9a-f]{128})\n/.exec(verified.output) ?? []
  const [noted, foreign] = await Promise.all(
    [head, 'a'.repeat(128)].map((hash) =>
      run(['audit', 'verify', '--head', hash], settings('data')),
    ),
  )
  const has = `The log has the row with the hash ${head}: up to it, nothing was removed or changed.\n`
  expect(noted).toMatchObject({ code: 0, output: expect.stringContaining(has) })
  expect(foreign).toMatchObject({
    code: 1,
    output: expect.stringContaining(
      'rows at the end were removed, or the hash is from another log',
    ),
  })
  expect(restored).toMatchObject({ code: 0, output: expect.stringMatching(/Restored .*cluster/) })
  first.command.kill('SIGTERM')
  await first.command.ended

  // Without it the host would create a new operator token, which revokes the earlier one.
  const second = await start('second', { ...env, KEYWAY_ADMIN_TOKEN: token })
  expect((await me(second.url)).id).toBe(id)
  second.command.kill('SIGTERM')
  expect(await second.command.ended).toEqual({ code: 0, signal: null })
})
