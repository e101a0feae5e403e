/** Background jobs as operators see them, and what happens to work that fails permanently. */
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { app, type CoreHost, person, QUICK_PACE, startCore } from '../../host.ts'
import { type Company, company } from '../../requests/company.ts'
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts'

let receiver: Receiver
let core: CoreHost
let acme: Company

beforeAll(async () => {
  receiver = await startReceiver()
  const settings = {
    KEYWAY_PRIVATE_EGRESS: `webhooks=${receiver.host}`,
    KEYWAY_REQUESTS_PER_MINUTE: '100000',
  }
  core = await startCore(settings, { pace: QUICK_PACE })
  acme = company(core)
})
afterAll(async () => {
  await core.stop()
  await receiver.close()
})

/** A request that a webhook provisions once it is approved. */
async function asked(): Promise<string> {
  const body = { hook_type: 'PROVISION', name: 'Hook', url: receiver.url, headers: {} }
  const { id } = (await core.call('POST', '/operator/webhooks', { body })).body.webhook
  const name = `App ${Math.random()}`
  const appId = await acme.inStore(await app(core.db, name), {}, { provisioning_webhook: { id } })
  return acme.asked(await person(core.db, `${Math.random()}@acme.example`), { app_id: appId })
}

const jobs = async (query = '') => (await core.call('GET', `/operator/jobs${query}`)).body.items

it('a job is listed with its key, its times and its result', async () => {
  const id = await asked()
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  const [job] = await until('the job is completed', async () => {
    const found = await jobs('?queue=access-requests&state=completed')
    return found.length > 0 ? found : null
  })
  const { app_id, target_user } = await acme.read(id)
  expect(job).toMatchObject({ key: `${app_id} ${target_user.id}`, tries: 0, problem: null })
  expect(Date.parse(job.ended_at)).toBeGreaterThanOrEqual(Date.parse(job.started_at))
  expect((await core.call('GET', '/operator/jobs?state=odd')).status).toBe(422)
})

it('a job that fails permanently becomes a manual task', async () => {
  const id = await asked()
  const owner = new Client(await core.login())
  await owner.connect()
  // A fault that no code expects: a column is missing.
  await owner.query('alter table public.inline_webhooks rename column url to url_gone')
  await owner.query("update jobs.queue set retry_limit = 0 where name = 'access-requests'")
  try {
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    expect((await acme.openTask(id)).instructions).toContain('could not be done automatically')
    const failed = await jobs('?state=failed')
    const problems = failed.map((one: { problem: string | null }) => one.problem)
    expect(problems).toContain('column "url" does not exist')
  } finally {
    await owner.query('alter table public.inline_webhooks rename column url_gone to url')
    await owner.end()
  }
})

it('a queue whose due work cannot be found does not keep other work from being found', async () => {
  const owner = new Client(await core.login())
  await owner.connect()
  await owner.query('alter table public.event_feeds rename to event_feeds_gone')
  try {
    // No job was sent for the upload, so it must be found as due.
    const { rows } = await owner.query(`
      insert into uploads (domain_id, user_id, kind, body)
      select domain_id, id, 'activity', '[]' from users limit 1 returning id`)
    await until('the upload is processed', async () => {
      const found = await owner.query('select finished_at from uploads where id = $1', [rows[0].id])
      return found.rows[0].finished_at !== null
    })
  } finally {
    await owner.query('alter table public.event_feeds_gone rename to event_feeds')
    await owner.end()
  }
})

it.each([
  ['waits for a try', "state = 'retry', start_after = now() + interval '1 year'"],
  [
    'was begun by a host that has died',
    "state = 'active', started_on = now() + interval '1 year', heartbeat_on = now() + interval '1 year'",
  ],
])('a job that %s goes on after the clock of the database was set back', async (_what, set) => {
  const owner = new Client(await core.login())
  await owner.connect()
  try {
    const id = await core.db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ id: string }>(sql`
        insert into uploads (domain_id, user_id, kind, body)
        select domain_id, id, 'activity', '[]' from users limit 1 returning id`)
      const made = rows[0]?.id ?? ''
      await core.host.parts.send(tx, 'uploads', made)
      await tx.execute(sql`update jobs.job set ${sql.raw(set)} where singleton_key = ${made}`)
      await tx.execute(sql`update jobs.queue set monitor_claim_on = now() + interval '1 year'`)
      return made
    })
    await until('the upload is processed', async () => {
      const found = await owner.query('select finished_at from uploads where id = $1', [id])
      return found.rows[0].finished_at !== null
    })
  } finally {
    await owner.end()
  }
})
