/**
 * Reads a pushed group, or a patch of one, as a change of its members: sets to add and remove, never the
 * whole list. Pure.
 */
import { SCIM_LENGTHS } from '../../contract/models/scim.ts'
import { isObject, membersOf } from '../../contract/schema/record.ts'
import type { Filter } from './filter.ts'
import { member, type PatchOperation } from './patch.ts'
import { parseScimPath, requireFewAttributes, schemaOf } from './paths.ts'
import { invalidValue, required } from './problem.ts'

export type GroupChange = {
  displayName?: string
  externalId?: string | null
  /** If true, current members who are not named are removed. */
  replaces: boolean
  join: Set<string>
  leave: Set<string>
}

const nothing = (): GroupChange => ({ replaces: false, join: new Set(), leave: new Set() })

/**
 * Reads a whole group, as sent by POST and PUT. Without `members` the group has none.
 *
 * @throws ScimError `invalidValue`
 */
export function changeOfResource(
  body: Record<string, unknown>,
): GroupChange & { displayName: string } {
  requireFewAttributes([body])
  const change: GroupChange = { ...nothing(), replaces: true, externalId: null }
  readMembers(change, 'replace', body)
  const { displayName } = change
  if (displayName === undefined) throw invalidValue('displayName is missing')
  return { ...change, displayName }
}

/** Returns the combined result of the operations of a patch, applied in order. */
export function changeOfPatch(operations: readonly PatchOperation[]): GroupChange {
  requireFewAttributes(operations.map(({ value }) => value))
  const change = nothing()
  for (const { op, path, value } of operations) {
    if (path === null) readMembers(change, op, membersOf(value))
    else patchAt(change, op, path, value)
  }
  return change
}

function readMembers(
  change: GroupChange,
  op: PatchOperation['op'],
  members: Record<string, unknown>,
): void {
  // Okta sends the id next to the name. It has no meaning here, and neither has a schema that is not stored.
  for (const [key, value] of Object.entries(members))
    if (!/^(urn:|(schemas|id|meta)$)/i.test(schemaOf(key).rest)) patchAt(change, op, key, value)
}

function patchAt(
  change: GroupChange,
  op: PatchOperation['op'],
  path: string,
  value: unknown,
): void {
  if (schemaOf(path).rest === '') {
    if (isObject(value)) readMembers(change, op, value)
    return
  }
  const { name, filter, sub } = parseScimPath(path)
  if (name === 'displayname' && op === 'remove') throw required('displayName')
  if (name === 'displayname') change.displayName = nameOf(value)
  else if (name === 'externalid') change.externalId = op === 'remove' ? null : externalIdOf(value)
  else if (name === 'members' && (sub === '' || sub === 'value'))
    changeMembers(change, op, filter, value)
}

function changeMembers(
  change: GroupChange,
  op: PatchOperation['op'],
  filter: Filter | null,
  value: unknown,
): void {
  if (op === 'replace' && filter !== null) return exchange(change, filter, value)
  const named = filter === null ? idsOf(value) : idsIn(filter)
  if (op === 'add') for (const id of named) move(change, id, 'join', 'leave')
  else if (op === 'remove' && (filter !== null || (value ?? null) !== null)) {
    for (const id of named) move(change, id, 'leave', 'join')
  } else {
    change.replaces = true
    change.leave.clear()
    change.join = op === 'remove' ? new Set() : new Set(named)
  }
}

/**
 * Replaces the members that a filter selects, and keeps the others. A value without an id changes no
 * membership.
 */
function exchange(change: GroupChange, filter: Filter, value: unknown): void {
  if (isObject(value) && member(value, 'value') === undefined) return
  for (const id of idsIn(filter)) move(change, id, 'leave', 'join')
  for (const id of idsOf(value)) move(change, id, 'join', 'leave')
}

function move(change: GroupChange, id: string, to: 'join' | 'leave', from: 'join' | 'leave'): void {
  change[from].delete(id)
  // Members who are not named are removed anyway.
  if (to === 'join' || !change.replaces) change[to].add(id)
}

/** Returns the ids in a list of members, in a single member, or in bare ids. */
function idsOf(value: unknown): string[] {
  if (value === null || value === undefined) return []
  return [value].flat().map((one) => {
    const id = isObject(one) ? member(one, 'value') : one
    if (isObject(one) && String(member(one, 'type') ?? 'User').toLowerCase() === 'group')
      throw invalidValue('a member is a group: groups can contain only people, so push the people')
    if (typeof id !== 'string') throw invalidValue('each of members must have the id of a user')
    return id.toLowerCase()
  })
}

/** Returns the ids of `members[value eq "id"]`, or of several of these joined by `or`. */
function idsIn(filter: Filter): string[] {
  if (filter.kind === 'or') return [...idsIn(filter.left), ...idsIn(filter.right)]
  const isOne =
    filter.kind === 'compare' && filter.path.toLowerCase() === 'value' && filter.operator === 'eq'
  if (isOne) return [String(filter.value).toLowerCase()]
  throw invalidValue('members are named as members[value eq "id"]')
}

function nameOf(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text === '') throw invalidValue('displayName must be text that is not empty')
  if (text.length > SCIM_LENGTHS.name)
    throw invalidValue(`displayName has more than ${SCIM_LENGTHS.name} characters`)
  return text
}

function externalIdOf(value: unknown): string | null {
  if (value === null || value === '') return null
  if (typeof value === 'string' && value.length <= SCIM_LENGTHS.name) return value
  throw invalidValue(`externalId must be text of at most ${SCIM_LENGTHS.name} characters`)
}
