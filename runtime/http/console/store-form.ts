/**
 * The store settings of an app as one form: a text per field. People are given by address, groups by name.
 */
import * as v from 'valibot'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import {
  AppSettingInput,
  AppSettingOutput,
  DISCOVERABILITIES,
} from '../../contract/models/app-store.ts'
import { keysOf, mapValues } from '../../contract/schema/keys.ts'
import { findApp } from '../../core/catalogue/apps/apps.ts'
import { getSettings } from '../../core/catalogue/store/settings.ts'
import { fieldError } from '../frame/error-page.ts'
import { groupNamed, personNamed } from '../pages/named.ts'
import type { About } from './change.ts'
import { filledIn } from './filled-in.ts'
import type { ConsoleVisit } from './visit.ts'

type Kept = v.InferOutput<typeof AppSettingOutput>
type Part = Partial<v.InferInput<typeof AppSettingInput>>

/** Kind of input. `people` is lines of addresses and group names. */
type FieldKind = 'yesno' | 'finders' | 'groups' | 'people' | 'lengths' | 'text'

const FINDERS = v.object({ discoverability: v.picklist(DISCOVERABILITIES) })

type FormField = {
  kind: FieldKind
  /** Returns the setting as the text of its field. */
  text(kept: Kept): string
  /** Converts the form's text to the endpoint's input. @throws CoreError `invalid` for an unknown name */
  input(text: string, visit: ConsoleVisit, field: string): Part | Promise<Part>
}

export const LENGTHS = keysOf(ACCESS_LENGTHS)

const yesno = (of: (kept: Kept) => boolean, input: (is: boolean) => Part): FormField => ({
  kind: 'yesno',
  text: (kept) => (of(kept) ? 'yes' : 'no'),
  input: (text) => input(text === 'yes'),
})

type Named = { email?: string | null; name?: string | null }
type Some = { users?: readonly Named[]; groups: readonly Named[] }
const lines = ({ users = [], groups }: Some): string =>
  [...users.map(({ email }) => email), ...groups.map(({ name }) => name)].join('\n')

type Chosen = Awaited<ReturnType<typeof named>>
const people = (of: (kept: Kept) => Some, input: (chosen: Chosen) => Part): FormField => ({
  kind: 'people',
  text: (kept) => lines(of(kept)),
  input: async (text, visit, field) => input(await named(visit, text, field)),
})

const flow = (part: Part['request_flow']): Part => ({ request_flow: part })
const provisioning = (part: Part['provisioning']): Part => ({ provisioning: part })

/** STORE_FIELDS: fields of the form, in order. */
export const STORE_FIELDS = {
  in_store: yesno(
    (kept) => kept.in_app_store,
    (is) => ({ in_app_store: is }),
  ),
  discoverability: {
    kind: 'finders',
    text: (kept) => kept.request_flow.discoverability,
    input: (text) => flow(filledIn(FINDERS, { discoverability: text })),
  },
  allowed_groups: {
    kind: 'groups',
    text: ({ request_flow: { allowed_groups: allowed } }) =>
      allowed?.type === 'SPECIFIED_GROUPS' ? lines(allowed) : '',
    async input(text, visit, field) {
      const { groups } = await named(visit, text, field)
      const type = groups.length > 0 ? 'SPECIFIED_GROUPS' : 'ALL_GROUPS'
      return flow({ allowed_groups: { type, groups } })
    },
  },
  admins: people(
    (kept) => kept.request_flow.admins,
    (admins) => flow({ admins }),
  ),
  manager: yesno(
    (kept) => kept.request_flow.require_manager_approval,
    (is) => flow({ require_manager_approval: is }),
  ),
  approvers: people(
    (kept) => kept.request_flow.approvers,
    (approvers) => flow({ approvers }),
  ),
  approvers_2: people(
    (kept) => kept.request_flow.approvers_stage_2,
    (second) =>
      flow({
        approvers_stage_2: second,
        require_additional_approval: second.users.length + second.groups.length > 0,
      }),
  ),
  lengths: {
    kind: 'lengths',
    text: (kept) =>
      LENGTHS.filter((one) => kept.provisioning.time_based_access.includes(one)).join('\n'),
    input: (text) =>
      provisioning({
        time_based_access: LENGTHS.filter((one) => text.split('\n').includes(one)),
      }),
  },
  instructions: {
    kind: 'text',
    text: (kept) => kept.custom_request_instructions,
    input: (text) => ({ custom_request_instructions: text }),
  },
  by_hand: yesno(
    (kept) => kept.provisioning.manual_steps_needed,
    (is) => provisioning({ manual_steps_needed: is }),
  ),
  by_hand_how: {
    kind: 'text',
    text: (kept) => kept.provisioning.custom_provisioning_instructions ?? '',
    input: (text) => provisioning({ custom_provisioning_instructions: text || null }),
  },
} as const satisfies Record<string, FormField>
export type StoreField = keyof typeof STORE_FIELDS
export const STORE_NAMES: readonly StoreField[] = keysOf(STORE_FIELDS)

type Held = Record<StoreField, string>

/** Returns the current settings as texts. @throws CoreError `forbidden`, `not_found` */
export async function storeOf({ db, principal }: ConsoleVisit, appId: string): Promise<Held> {
  await findApp(db, principal, appId, 'appstore.write')
  const kept = v.parse(AppSettingOutput, await getSettings(db, principal, appId))
  return mapValues(STORE_FIELDS, (field) => field.text(kept))
}

/** Returns the input of a field. Each length has its own checkbox. */
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

/** Returns the fields that differ from the current settings. */
export const storeChanged = (about: About, held: Held): StoreField[] =>
  STORE_NAMES.filter((name) => storeTyped(about, name) !== held[name].trim())

/** Returns the changed fields as the endpoint's input. @throws CoreError `invalid` for an unknown name */
export async function storeInput(
  visit: ConsoleVisit,
  about: About,
  changed: readonly StoreField[],
): Promise<AppSettingInput> {
  const input: Part = {}
  for (const name of changed) {
    const { request_flow, provisioning, ...part } = await partOf(visit, about, name)
    Object.assign(input, part)
    if (request_flow) input.request_flow = { ...input.request_flow, ...request_flow }
    if (provisioning) input.provisioning = { ...input.provisioning, ...provisioning }
  }
  return filledIn(AppSettingInput, input)
}

const partOf = async (visit: ConsoleVisit, about: About, name: StoreField): Promise<Part> =>
  STORE_FIELDS[name].input(storeTyped(about, name), visit, name)

/** Parses lines of e-mail addresses and group names. @throws CoreError `invalid`, at the field */
async function named(visit: ConsoleVisit, text: string, field: string) {
  const all = text.split('\n').filter((line) => line.trim() !== '')
  const users: { id: string }[] = []
  const groups: { id: string }[] = []
  for (const line of all)
    if (line.includes('@')) users.push(await personIn(visit, line.trim(), field))
    else groups.push(await groupIn(visit, line.trim(), field))
  return { users, groups }
}

/** Finds a person by address. @throws CoreError `invalid` for an unknown address */
async function personIn({ db, principal, t }: ConsoleVisit, text: string, field: string) {
  const one = await personNamed(db, principal, text)
  if (!one) throw fieldError(field, t.console.store_change.noPerson(text))
  return { id: one.id }
}

/** Finds a group by name. @throws CoreError `invalid` for an unknown or ambiguous name */
async function groupIn({ db, principal, t }: ConsoleVisit, name: string, field: string) {
  const group = await groupNamed(db, principal, name)
  if (!group) throw fieldError(field, t.console.store_change.noGroup(name))
  return { id: group.id }
}
