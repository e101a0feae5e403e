/** Why a person had access: through a request, through a policy, or because a sync found it. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SAMPLE_TOKEN } from '../../../runtime/sample/tenants.ts'
import { type Directory, startDirectory } from '../directory.ts'
import { type CoreHost, domainOf, type Person, person, startCore } from '../host.ts'
import { type Company, company } from '../requests/company.ts'
import { ask, sync } from '../sync/synced.ts'

let directory: Directory
let core: CoreHost
let acme: Company
let appId: string

beforeAll(async () => {
  directory = await startDirectory()
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}` })
  await core.host.settled
  acme = company(core)
  appId = await acme.connected(directory.app)
})
afterAll(async () => {
  await core.stop()
  await directory.close()
})

type Line = { kind: string; label: string | null; reasons: Record<string, unknown>[] }

/** The access of a person at a time: kind, label, and the reasons with their request or policy. */
async function accessAt({ id }: Person, at: string | null): Promise<unknown[]> {
  const query = at === null ? '' : `?as_of=${at}`
  const { status, body } = await core.call('GET', `/users/${id}/access${query}`)
  expect([status, body.total]).toEqual([200, body.items.length])
  return body.items.map(({ kind, label, reasons }: Line) => [
    kind,
    label,
    ...reasons.map((one) => `${one['kind']} ${one['request_id'] ?? one['policy_id'] ?? ''}`.trim()),
  ])
}

async function now(): Promise<string> {
  const [row] = await ask<{ at: string }>(core, sql`select clock_timestamp() as at`)
  await new Promise((resolve) => setTimeout(resolve, 5))
  return new Date(row?.at ?? '').toISOString()
}

test('a request is the reason from the grant of the access until its removal', async () => {
  const reply = await fetch(`${directory.app.settings.base_url}/Groups?count=1`, {
    headers: { authorization: `Bearer ${SAMPLE_TOKEN}` },
  })
  const [group] = ((await reply.json()) as { Resources: { id: string; displayName: string }[] })
    .Resources
  const eve = await person(core.db, 'eve@acme.example')
  const label = 'The group'
  const ref = { entitlementType: 'GROUP', entitlementId: group?.id ?? '' }
  const permission = await acme.synced(appId, label, { ...ref, resourceType: '', resourceId: '' })
  const before = await now()
  const id = await acme.asked(eve, {
    app_id: appId,
    requestable_permission_ids: [permission],
    expiration_in_seconds: 3600,
  })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  const given = await now()
  expect((await sync(core, appId)).state).toBe('SUCCEEDED')
  const synced = await now()
  await core.db.execute(
    sql`update access_requests set expires_at = now(), wake_at = now() where id = ${id}`,
  )
  await acme.reaches(id, 'TIME_BASED_EXPIRED')
  expect((await sync(core, appId)).state).toBe('SUCCEEDED')
  const over = await now()
  expect(await accessAt(eve, before)).toEqual([])
  expect(await accessAt(eve, given)).toEqual([['granted', label, `request ${id}`]])
  expect(await accessAt(eve, synced)).toEqual([
    ['account', null, 'found'],
    ['entitlement', group?.displayName, `request ${id}`],
  ])
  for (const at of [over, null])
    expect((await accessAt(eve, at)).filter((one) => JSON.stringify(one).includes(id))).toEqual([])
  const [span] = await ask<{ n: string }>(
    core,
    sql`select count(*) as n from reason_spans where request_id = ${id} and until is not null`,
  )
  expect(Number(span?.n)).toBe(1)
})

test('access from a policy names the policy', async () => {
  const kim = await person(core.db, 'kim@acme.example')
  const policy = '11111111-1111-4111-8111-111111111111'
  await core.db.execute(sql`
    insert into reason_spans (domain_id, since, user_id, request_id, policy_id, app_id, carried_app_id, label)
    values (${await domainOf(core.db)}, now(), ${kim.id}, gen_random_uuid(), ${policy}, ${appId}, ${appId}, 'Seat')`)
  const { body } = await core.call('GET', `/users/${kim.id}/access`)
  expect(body.items).toMatchObject([
    { kind: 'granted', label: 'Seat', reasons: [{ kind: 'policy', policy_id: policy }] },
  ])
})
