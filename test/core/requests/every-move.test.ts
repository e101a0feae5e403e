/** Requests take every transition of REQUEST_STATES, and only transitions that requests take are in it. */
import { eq, sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestStatus } from '../../../runtime/contract/models/access-request.ts'
import { revert } from '../../../runtime/core/requests/cancel.ts'
import { REQUEST_STATES } from '../../../runtime/core/requests/machine/states.ts'
import { LISTENERS } from '../../../runtime/core/wiring/listeners.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { databaseTime } from '../../../runtime/database/transactions.ts'
import { type CoreHost, type Person, person, startCore } from '../host.ts'
import { type Company, company } from './company.ts'
import { type BadSystem, type End, startBadSystem } from './faults/bad-system.ts'

/**
 * Transitions made by rules and webhooks before anyone is asked: webhooks.test.ts and the tests of
 * policies cover them.
 */
const BEFOREHAND = ['PENDING APPROVED', 'PENDING DENIED', 'PENDING CANCELLED']

let system: BadSystem
let core: CoreHost
let acme: Company
let owner: Client
let approver: Person
let appId: string
let people = 0
const whose = new Map<string, Person>()

beforeAll(async () => {
  system = await startBadSystem()
  core = await startCore(system.env)
  await core.host.settled
  acme = company(core)
  owner = new Client(await core.login())
  await owner.connect()
  // The trigger records every update, also several within one transaction.
  await owner.query(`
    create table moves (was text, became text);
    grant insert on moves to keyway_app;
    create function note_move() returns trigger language plpgsql as
      $$ begin insert into moves values (old.status, new.status); return null; end $$;
    create trigger moves after update on access_requests for each row
      when (old.status <> new.status or old.stage <> new.stage) execute function note_move()`)
  approver = await person(core.db, 'approver@acme.example')
  appId = await acme.connected(system.app)
})
afterAll(async () => {
  await owner.end()
  await core.stop()
  await system.close()
})

/** Requests the app after setting its approvals. */
async function asked(flow: object = {}, more: object = {}): Promise<string> {
  people += 1
  const who = await person(core.db, `person-${people}@acme.example`)
  await acme.setManager(who.id, approver.id)
  const { status, body } = await core.call('PATCH', `/appstore/apps/${appId}/settings`, {
    body: { request_flow: { require_manager_approval: false, ...flow } },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const id = await acme.asked(who, { app_id: appId, ...more })
  whose.set(id, who)
  return id
}

const cancel = (id: string) => core.call('DELETE', `/appstore/access_requests/${id}`)

/** Makes a request due: its time to be decided, or its granted time, is over. */
const wake = (id: string) =>
  core.db.execute(sql`update access_requests
    set created_at = created_at - interval '30 days', wake_at = now(),
      expires_at = least(expires_at, now()) where id = ${id}`)

const reverted = (id: string) =>
  core.db.transaction(async (tx) => {
    const [row] = await tx.select().from(accessRequests).where(eq(accessRequests.id, id))
    if (!row) throw new Error('the request is gone')
    await revert(tx, row, 'Its reason no longer applies', {
      ...{ now: databaseTime, send: async () => {}, listeners: LISTENERS },
    })
  })

/** A request that waits for manual provisioning because the connector refused it. */
async function byHand(more: object = {}): Promise<string> {
  system.behave((name) => (name === 'create_account' ? 'refused' : 'well'))
  const id = await asked({}, more)
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
  return id
}

async function given(more: object = {}): Promise<string> {
  system.behave(() => 'well')
  const id = await asked({}, more)
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  return id
}

/** Access whose time or reason is over and that waits for manual deprovisioning. */
async function toRemoveByHand(end: (id: string) => Promise<unknown> = wake): Promise<string> {
  const id = await byHand({ expiration_in_seconds: 3600 })
  await acme.settle(id, 'complete')
  await end(id)
  await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
  return id
}

const MANAGER = { require_manager_approval: true }

async function approvalMoves(): Promise<void> {
  const two = {
    approvers: { users: [{ id: approver.id }], groups: [] },
    approvers_stage_2: { users: [{ id: approver.id }], groups: [] },
    require_additional_approval: true,
  }
  await acme.settle(await asked(MANAGER), 'complete')
  await acme.settle(await asked(MANAGER), 'dismiss')
  await cancel(await asked(MANAGER))
  const late = await asked(MANAGER)
  await wake(late)
  await acme.reaches(late, 'EXPIRED')
  const staged = await asked({ ...MANAGER, ...two })
  for (let n = 0; n < 3; n += 1) await acme.settle(staged, 'complete')
  const none = { approvers: { users: [], groups: [] }, require_additional_approval: false }
  await acme.settle(await asked(none), 'dismiss')
  await cancel(await asked())
  const later = await asked()
  await wake(later)
  await acme.reaches(later, 'EXPIRED')
}

async function provisioningMoves(): Promise<void> {
  for (const end of [cancel, reverted]) {
    const held = Promise.withResolvers<End>()
    const before = system.count('list_accounts')
    system.behave(() => held.promise)
    const id = await asked()
    await acme.settle(id, 'complete')
    await expect
      .poll(() => system.count('list_accounts'), { timeout: 30_000 })
      .toBeGreaterThan(before)
    await end(id)
    held.resolve('well')
  }
  await cancel(await byHand())
  await reverted(await byHand())
  await acme.settle(await byHand(), 'dismiss')
  const retried = await byHand()
  system.behave(() => 'well')
  await acme.retry(retried)
  await acme.reaches(retried, 'COMPLETED')
}

async function deprovisioningMoves(): Promise<void> {
  const over = await given({ expiration_in_seconds: 3600 })
  await wake(over)
  await acme.reaches(over, 'TIME_BASED_EXPIRED')
  const gone = await given()
  await reverted(gone)
  await acme.reaches(gone, 'REVERTED')
  await acme.settle(await toRemoveByHand(), 'complete')
  await acme.settle(await toRemoveByHand(), 'dismiss')
  const failed = await toRemoveByHand()
  await wake(failed)
  await acme.reaches(failed, 'TIME_BASED_EXPIRED_FAILED')
  await acme.settle(await toRemoveByHand(reverted), 'complete')
  for (const end of [wake, reverted]) {
    // The same person gets the access again, so it no longer has to be taken back by hand.
    const id = await toRemoveByHand(end)
    const again = await acme.asked(whose.get(id) as Person, { app_id: appId })
    system.behave(() => 'well')
    await acme.settle(again, 'complete')
    await acme.reaches(again, 'COMPLETED')
    await acme.reaches(id, end === wake ? 'TIME_BASED_EXPIRED' : 'REVERTED')
  }
}

test('requests make every transition of the table and no other', async () => {
  await approvalMoves()
  await provisioningMoves()
  await deprovisioningMoves()
  const { rows } = await owner.query<{ move: string }>(
    `select distinct was || ' ' || became as move from moves`,
  )
  const named = Object.entries(REQUEST_STATES).flatMap(([was, { next }]) =>
    (next as readonly RequestStatus[]).map((became) => `${was} ${became}`),
  )
  const made = [...rows.map(({ move }) => move), ...BEFOREHAND]
  expect([...new Set(made)].sort()).toEqual(named.sort())
}, 180_000)
