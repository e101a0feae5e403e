/** The settings of an app in the store, as one form holds them: texts by field. People are addresses, groups their names. */
import * as v from 'valibot'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import { AppSettingInput, AppSettingOutput } from '../../contract/models/app-store.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import { findApp } from '../../core/catalogue/apps/apps.ts'
import { getSettings } from '../../core/catalogue/store/settings.ts'
import { PageError } from '../frame/error-page.ts'
import { groupNamed, personNamed } from '../pages/named.ts'
import type { About } from './change.ts'
import { filledIn } from './filled-in.ts'
import type { ConsoleVisit } from './visit.ts'

/** STORE_FIELDS: how a field is entered; `people` are lines of addresses and names. */
export const STORE_FIELDS = {
  in_store: 'yesno',
  discoverability: 'finders',
  allowed_groups: 'groups',
  admins: 'people',
  manager: 'yesno',
  approvers: 'people',
  approvers_2: 'people',
  lengths: 'lengths',
  instructions: 'text',
  by_hand: 'yesno',
  by_hand_how: 'text',
} as const
export type StoreField = keyof typeof STORE_FIELDS
export const STORE_NAMES: readonly StoreField[] = keysOf(STORE_FIELDS)

export const LENGTHS = keysOf(ACCESS_LENGTHS)

type Held = Record<StoreField, string>

const yes = (is: boolean): string => (is ? 'yes' : 'no')

type Named = { email?: string | null; name?: string | null }
type Some = { users?: readonly Named[]; groups: readonly Named[] }
const lines = ({ users = [], groups }: Some): string =>
  [...users.map(({ email }) => email), ...groups.map(({ name }) => name)].join('\n')

/** @throws CoreError forbidden, not_found */
export async function storeOf({ db, principal }: ConsoleVisit, appId: string): Promise<Held> {
  await findApp(db, principal, appId, 'appstore.write')
  const kept = v.parse(AppSettingOutput, await getSettings(db, principal, appId))
  const { request_flow: flow, provisioning } = kept
  return {
    in_store: yes(kept.in_app_store),
    discoverability: flow.discoverability,
    allowed_groups:
      flow.allowed_groups?.type === 'SPECIFIED_GROUPS' ? lines(flow.allowed_groups) : '',
    admins: lines(flow.admins),
    manager: yes(flow.require_manager_approval),
    approvers: lines(flow.approvers),
    approvers_2: lines(flow.approvers_stage_2),
    lengths: LENGTHS.filter((one) => provisioning.time_based_access.includes(one)).join('\n'),
    instructions: kept.custom_request_instructions,
    by_hand: yes(provisioning.manual_steps_needed),
    by_hand_how: provisioning.custom_provisioning_instructions ?? '',
  }
}

/** What a field holds: each length has a box of its own. */
export const storeTyped = (about: About, name: StoreField): string =>
  name === 'lengths'
    ? LENGTHS.filter((one) => about.get(lengthBox(one)) !== '').join('\n')
    : about
        .get(name)
        .replaceAll('\r\n', '\n')
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n')

export const lengthBox = (length: AccessLength): string => `length-${LENGTHS.indexOf(length)}`

/** The fields that hold something else than is kept. */
export const storeChanged = (about: About, held: Held): StoreField[] =>
  STORE_NAMES.filter((name) => storeTyped(about, name) !== held[name].trim())

/** What was changed, as the endpoint takes it. @throws CoreError bad_request for a name that nothing has */
export async function storeInput(
  visit: ConsoleVisit,
  about: About,
  changed: readonly StoreField[],
): Promise<AppSettingInput> {
  const has = (name: StoreField) => changed.includes(name)
  const text = (name: StoreField) => storeTyped(about, name)
  const groups = has('allowed_groups') ? (await named(visit, text('allowed_groups'))).groups : []
  const second = has('approvers_2') ? await named(visit, text('approvers_2')) : null
  return filledIn(AppSettingInput, {
    ...(has('in_store') ? { in_app_store: text('in_store') === 'yes' } : {}),
    ...(has('instructions') ? { custom_request_instructions: text('instructions') } : {}),
    request_flow: {
      ...(has('discoverability') ? { discoverability: text('discoverability') } : {}),
      ...(has('allowed_groups')
        ? {
            allowed_groups: { type: groups.length > 0 ? 'SPECIFIED_GROUPS' : 'ALL_GROUPS', groups },
          }
        : {}),
      ...(has('admins') ? { admins: await named(visit, text('admins')) } : {}),
      ...(has('manager') ? { require_manager_approval: text('manager') === 'yes' } : {}),
      ...(has('approvers') ? { approvers: await named(visit, text('approvers')) } : {}),
      ...(second === null
        ? {}
        : {
            approvers_stage_2: second,
            require_additional_approval: second.users.length + second.groups.length > 0,
          }),
    },
    provisioning: {
      ...(has('lengths')
        ? { time_based_access: LENGTHS.filter((one) => about.get(lengthBox(one)) !== '') }
        : {}),
      ...(has('by_hand') ? { manual_steps_needed: text('by_hand') === 'yes' } : {}),
      ...(has('by_hand_how')
        ? { custom_provisioning_instructions: text('by_hand_how') || null }
        : {}),
    },
  })
}

/** Lines of addresses and of names of groups. */
async function named(visit: ConsoleVisit, text: string) {
  const all = text.split('\n').filter((line) => line.trim() !== '')
  const users: { id: string }[] = []
  const groups: { id: string }[] = []
  for (const line of all)
    if (line.includes('@')) users.push(await personIn(visit, line.trim()))
    else groups.push(await groupIn(visit, line.trim()))
  return { users, groups }
}

/** @throws CoreError bad_request */
async function personIn({ db, principal, t }: ConsoleVisit, text: string) {
  const one = await personNamed(db, principal, text)
  if (!one) throw new PageError('bad_request', t.console.store_change.noPerson(text))
  return { id: one.id }
}

/** @throws CoreError bad_request for a name that no group has, or several */
async function groupIn({ db, principal, t }: ConsoleVisit, name: string) {
  const group = await groupNamed(db, principal, name)
  if (!group) throw new PageError('bad_request', t.console.store_change.noGroup(name))
  return { id: group.id }
}
