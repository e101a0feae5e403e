/** A host that syncs an app from the scripted upstream of a test. */
import path from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { syncRuns } from '../../../runtime/database/schema/sync.ts'
import { until } from '../../e2e/until.ts'
import { fixture } from '../../fixtures/folders.ts'
import { type CoreHost, type CoreOptions, startCore } from '../host.ts'
import type { Upstream } from './upstream.ts'

/** Settings of a host that serves the fixture and may reach the upstream. */
export const environment = ({ host }: Upstream, plugins = path.dirname(fixture('synced'))) => ({
  KEYWAY_DROP_IN: 'open',
  KEYWAY_PLUGINS_DIR: plugins,
  KEYWAY_PRIVATE_EGRESS: `synced=${host}`,
  KEYWAY_REQUESTS_PER_MINUTE: '100000',
})

/** `egress`: additional private hosts that connectors may reach, by connector id. */
export async function startSynced(
  upstream: Upstream,
  options?: CoreOptions,
  egress: Record<string, string> = {},
): Promise<CoreHost> {
  const env = environment(upstream)
  const granted = Object.entries(egress).map(([id, host]) => `${id}=${host}`)
  const reached = [env.KEYWAY_PRIVATE_EGRESS, ...granted].join(' ')
  const core = await startCore({ ...env, KEYWAY_PRIVATE_EGRESS: reached }, options)
  await core.host.settled
  return core
}

/** Deletes all apps, in a transaction that is retried: it can deadlock with a sync that is still writing. */
export const deleteApps = ({ db }: CoreHost) => db.transaction((tx) => tx.delete(apps))

/** Connects the app and returns its id. */
export async function connect(
  core: CoreHost,
  { baseUrl }: Pick<Upstream, 'baseUrl'>,
  token = 'a-token-for-tests',
): Promise<string> {
  const body = {
    app_class_id: 'synced',
    auth: { token },
    settings: { base_url: baseUrl },
  }
  const reply = await core.call('POST', '/apps', { body })
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
  return reply.body.id
}

export const trigger = (core: CoreHost, appId: string) =>
  core.call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })

export type Run = typeof syncRuns.$inferSelect

export async function latestRun({ db }: CoreHost, appId: string): Promise<Run> {
  const [run] = await db
    .select()
    .from(syncRuns)
    .where(eq(syncRuns.appId, appId))
    .orderBy(sql`id desc`)
    .limit(1)
  if (!run) throw new Error('the app was never synced')
  return run
}

/** Makes retries due at once. */
export async function makeRetriesDue({ db }: CoreHost): Promise<void> {
  await db.execute(sql`update app_outages set until = clock_timestamp() where until > now()`)
  await db.execute(sql`update sync_runs set next_try_at = null where next_try_at is not null`)
}

/** Waits for the end of the app's latest run, skipping the pauses between tries. */
export const ended = (core: CoreHost, appId: string, patienceMs = 60_000): Promise<Run> =>
  until(
    'the sync has ended',
    async () => {
      await makeRetriesDue(core)
      const run = await latestRun(core, appId)
      return run.state === 'RUNNING' ? null : run
    },
    patienceMs,
  )

/** Syncs and returns the finished run. */
export async function sync(core: CoreHost, appId: string): Promise<Run> {
  const { status, body } = await trigger(core, appId)
  if (status !== 202) throw new Error(JSON.stringify(body))
  return ended(core, appId)
}

export const statusOf = async ({ db }: CoreHost, appId: string) =>
  (await db.select().from(apps).where(eq(apps.id, appId)))[0]?.syncStatus

/** The rows of a query. */
export async function ask<T extends Record<string, unknown>>(
  { db }: CoreHost,
  question: ReturnType<typeof sql>,
): Promise<T[]> {
  return (await db.execute(question)).rows as T[]
}

/** The accounts of an app by id, with their status and user. */
export const accountsOf = (core: CoreHost, appId: string) =>
  ask<{ id: string; status: string; gone: boolean; email: string | null }>(
    core,
    sql`select unique_identifier as id, a.status, gone_at is not null as gone, u.email
      from accounts a left join users u on u.id = a.user_id
      where app_id = ${appId} order by unique_identifier`,
  )

/** The associations of an app, each as `ACCOUNT ENTITLEMENT`. */
export const associationsOf = async (core: CoreHost, appId: string): Promise<string[]> =>
  (
    await ask<{ one: string }>(
      core,
      sql`select a.unique_identifier || ' ' || e.external_id as one from associations s
        join accounts a on a.id = s.account_id join entitlements e on e.id = s.entitlement_id
        where s.app_id = ${appId} order by 1`,
    )
  ).map(({ one }) => one)
