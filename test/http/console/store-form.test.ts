/** The form of an app's store settings: each field matches the endpoint, for reading and writing. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { STORE_NAMES, type StoreField } from '../../../runtime/http/console/store-form.ts'
import { app, type CoreHost, group, person, startCore } from '../../core/host.ts'
import { company } from '../../core/requests/company.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let appId: string
let visitor: Visitor
beforeAll(async () => {
  core = await startCore()
  await person(core.db, 'ada@example.com')
  await group(core.db, 'On call', [])
  appId = await company(core).inStore(await app(core.db, 'Pager'))
  visitor = await signedIn(core)
})
afterAll(() => core.stop())

const path = () => `/console/apps/${appId}/store`
const settings = async () => (await core.call('GET', `/apps/${appId}/settings`)).body

/** Sends the form twice: for the preview, and to save. */
async function saved(fields: Record<string, string>) {
  await visitor.get(path())
  const shown = await visitor.post(path(), fields)
  const done = await visitor.post(path(), fields)
  return { shown, done }
}

const EMPTY: Record<StoreField, string> = {
  ...{ in_store: 'no', discoverability: 'NONE', allowed_groups: '', admins: '', manager: 'no' },
  ...{ approvers: '', approvers_2: '', lengths: '', instructions: '', by_hand: 'no' },
  by_hand_how: '',
}

const PEOPLE = { users: [{ email: 'ada@example.com' }], groups: [{ name: 'On call' }] }

test.each<[StoreField, Record<string, string>, object]>([
  ['in_store', { in_store: 'yes' }, { in_app_store: true }],
  [
    'discoverability',
    { discoverability: 'LIMITED' },
    { request_flow: { discoverability: 'LIMITED' } },
  ],
  [
    'allowed_groups',
    { allowed_groups: 'On call' },
    {
      request_flow: { allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ name: 'On call' }] } },
    },
  ],
  ['admins', { admins: 'ada@example.com\r\nOn call' }, { request_flow: { admins: PEOPLE } }],
  ['manager', { manager: 'yes' }, { request_flow: { require_manager_approval: true } }],
  ['approvers', { approvers: 'ada@example.com\nOn call' }, { request_flow: { approvers: PEOPLE } }],
  [
    'approvers_2',
    { approvers_2: 'ada@example.com\nOn call' },
    { request_flow: { approvers_stage_2: PEOPLE, require_additional_approval: true } },
  ],
  ['lengths', { 'length-0': 'yes' }, { provisioning: { time_based_access: [expect.any(String)] } }],
  ['instructions', { instructions: 'Ask kindly' }, { custom_request_instructions: 'Ask kindly' }],
  ['by_hand', { by_hand: 'yes' }, { provisioning: { manual_steps_needed: true } }],
  [
    'by_hand_how',
    { by_hand_how: 'Ring up' },
    { provisioning: { custom_provisioning_instructions: 'Ring up' } },
  ],
])('%s is saved, shown, and reset', async (name, fields, kept) => {
  await saved(EMPTY)
  const before = await settings()
  expect(before).not.toMatchObject(kept)
  const { done } = await saved({ ...EMPTY, ...fields })
  expect(done.status).toBe(303)
  expect(await settings()).toMatchObject(kept)
  // Sending the same values again changes nothing.
  const again = await saved({ ...EMPTY, ...fields })
  expect(again.shown.text, name).toContain('Nothing')
  await saved(EMPTY)
  expect(await settings()).toEqual(before)
})

test('every field is covered above', () => {
  expect(Object.keys(EMPTY).sort()).toEqual([...STORE_NAMES].sort())
})

test('an unknown discoverability is refused, and nothing is saved', async () => {
  await saved(EMPTY)
  const before = await settings()
  const { shown, done } = await saved({ ...EMPTY, discoverability: 'SOME', in_store: 'yes' })
  expect([shown.status, done.status]).toEqual([400, 400])
  expect(await settings()).toEqual(before)
})
