/** The sample's users and groups in memory, in SCIM form. Independent of HTTP. */
import { groupsOf, type Person, people } from './people.ts'

/** A user or a group: SCIM's attributes, by name. */
export type DirectoryEntry = { id: string; [attribute: string]: unknown }

/** Data of one sample server. */
export type Directory = {
  users: Map<string, DirectoryEntry>
  groups: Map<string, DirectoryEntry>
  nextId: number
}

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

type Member = { value: string; display?: string }

/** Creates a directory: 250 people in a dozen groups, the same each time. */
export function createDirectory(): Directory {
  const everyone = people()
  const groups = Object.entries(groupsOf(everyone)).map(([name, members], i) => ({
    id: groupId(i),
    displayName: name,
    members: members.map((one) => ({ value: one.id, display: fullName(one) })),
    meta: times(0),
  }))
  return {
    users: byId(everyone.map(toUser)),
    groups: byId(groups),
    nextId: 1000,
  }
}

const groupId = (i: number): string => `g-${String(i + 1).padStart(2, '0')}`

/** Returns the id of a group of a new directory, by its name. */
export const groupIdOf = (name: string): string =>
  groupId(Object.keys(groupsOf(people())).indexOf(name))

/** Returns the members of a group. */
export function membersOf({ members }: DirectoryEntry): Member[] {
  return Array.isArray(members) ? members : []
}

/** Removes a user from every group, so that no group refers to a deleted user. */
export function leaveGroups(directory: Directory, userId: string): void {
  for (const group of directory.groups.values()) {
    group['members'] = membersOf(group).filter((member) => member.value !== userId)
  }
}

const byId = (entries: DirectoryEntry[]) => new Map(entries.map((entry) => [entry.id, entry]))

const fullName = (person: Person): string => `${person.givenName} ${person.familyName}`

function toUser(person: Person, i: number): DirectoryEntry {
  const { id, email, title, department, managerId, active } = person
  return {
    id,
    externalId: `E-${10_000 + i}`,
    userName: email,
    name: {
      givenName: person.givenName,
      familyName: person.familyName,
      formatted: fullName(person),
    },
    displayName: fullName(person),
    title,
    active,
    emails: [{ value: email, type: 'work', primary: true }],
    [ENTERPRISE]: {
      employeeNumber: String(10_000 + i),
      department,
      ...(managerId === null ? {} : { manager: { value: managerId } }),
    },
    meta: times(i),
  }
}

/** Returns times six hours apart, starting on 1 January 2024. */
function times(i: number) {
  const created = new Date(Date.UTC(2024, 0, 1, 6 * i)).toISOString()
  return { created, lastModified: created }
}
