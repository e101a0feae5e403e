import { execFileSync } from 'node:child_process'
import { sql } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../runtime/database/open.ts'
import { isDatabaseUnavailable } from '../../runtime/database/unavailable.ts'
import { until } from '../e2e/until.ts'
import { ownServer } from '../kit/own-server.ts'

/**
 * Signals a server and all its sessions: stopped, they behave like a machine without memory or an
 * unresponsive network.
 */
function signal(pid: number | null, name: 'SIGSTOP' | 'SIGCONT'): void {
  if (pid === null) throw new Error('the server is not running')
  const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
  for (const one of [pid, ...children.trim().split('\n').map(Number)]) process.kill(one, name)
}

test('queries to a frozen server fail as unavailable, and succeed once it answers', async () => {
  const { server } = await ownServer()
  const database = await openDatabase(server.connection, () => {})
  const { db } = database
  const heard: (string | null)[] = []
  const unlisten = database.listen('news', (said) => void heard.push(said))
  await until('the listener is subscribed', () => heard.length === 1)
  const row = () => db.execute(sql`select 7 as seven`)
  await row()
  const freeze = () => signal(server.pid, 'SIGSTOP')
  onTestFinished(() => signal(server.pid, 'SIGCONT'))

  const outcome = db.transaction(async (tx) => {
    await tx.execute(sql`select pg_notify('news', 'undone')`)
    freeze()
    await tx.execute(sql`select 1`)
  })
  const fault = await outcome.then(
    () => null,
    (error: unknown) => error,
  )
  expect(isDatabaseUnavailable(fault), String(fault)).toBe(true)
  expect(database.waitingFor()).toMatch('which is away')
  // A new connection times out as well.
  expect(isDatabaseUnavailable(await row().catch((error) => error))).toBe(true)

  signal(server.pid, 'SIGCONT')
  await until('the database answers', async () => (await row().catch(() => null)) !== null)
  expect((await row()).rows).toEqual([{ seven: 7 }])
  await until('the listener is subscribed again', () => heard.length > 1)
  await db.execute(sql`select pg_notify('news', 'said')`)
  await until('the listener gets the notification', () => heard.includes('said'))
  expect(heard, 'the transaction that was given up').not.toContain('undone')
  expect(database.waitingFor()).toBeNull()
  await unlisten()
  await database.close()
})
