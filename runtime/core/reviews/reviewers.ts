/** Who reviews what a person has: nobody their own access, and who gave it only where nobody else is left. Pure. */
import type { REVIEWER_KINDS } from '../../contract/models/review-item.ts'

export type ReviewerKind = (typeof REVIEWER_KINDS)[number]

/** What is known of people: their manager, and whether they can sign in. */
export type PeopleById = ReadonlyMap<string, { managerId: string | null; isAble: boolean }>

/** People, and groups with those of their members who can sign in. */
export type Team = { users: readonly string[]; groups: ReadonlyMap<string, readonly string[]> }

export type Sources = {
  people: PeopleById
  named: Team
  /** Who reviewed the lines of a person in the app last time; of nobody's lines by an empty text. */
  lastTime: ReadonlyMap<string, Team>
  appAdmins: Team
  domainAdmins: Team
}

/** Whose lines, and who had a part in giving them. */
export type Subject = {
  userId: string | null
  involved: readonly string[]
  /** Who kept it first, and does not confirm that. */
  keptById: string | null
}

export type Reviewers = { users: string[]; groups: string[]; why: string }

/** Longest chain of managers that is followed. */
const MAX_MANAGERS = 50

/** The reviewers of a subject; without users and groups where nobody is left at all. */
export function reviewersOf(kind: ReviewerKind, subject: Subject, sources: Sources): Reviewers {
  const own = [subject.userId, subject.keptById].filter((one) => one !== null)
  const strict = new Set([...own, ...subject.involved])
  return (
    among(kind, subject, sources, strict) ??
    among(kind, subject, sources, new Set(own)) ?? {
      ...{ users: [], groups: [] },
      why: 'nobody is left who may review it; reassign it',
    }
  )
}

function among(
  kind: ReviewerKind,
  { userId }: Subject,
  { people, named, lastTime, appAdmins, domainAdmins }: Sources,
  without: ReadonlySet<string>,
): Reviewers | null {
  const before = kind === 'AS_LAST_TIME' ? lastTime.get(userId ?? '') : undefined
  const same = before ? leftOf(before, people, without) : null
  if (same) return { ...same, why: 'reviewed it last time' }
  const managed = kind === 'MANAGERS' || kind === 'AS_LAST_TIME'
  const manager = managed && userId !== null ? managerOf(people, userId, without) : null
  if (manager !== null) return { users: [manager.id], groups: [], why: manager.why }
  const teams: [Team, string][] = [
    ...(kind === 'NAMED' ? [[named, 'named by the owner'] satisfies [Team, string]] : []),
    [appAdmins, 'administers the app'],
    [domainAdmins, 'administers the domain'],
  ]
  for (const [team, why] of teams) {
    const left = leftOf(team, people, without)
    if (left) return { ...left, why }
  }
  return null
}

/** The first above a person who can sign in and is not excluded; null where a chain ends, or closes to a ring. */
function managerOf(people: PeopleById, userId: string, without: ReadonlySet<string>) {
  const seen = new Set<string>([userId])
  let above = people.get(userId)?.managerId ?? null
  while (above !== null && !seen.has(above) && seen.size <= MAX_MANAGERS) {
    const one = people.get(above)
    if (one?.isAble && !without.has(above))
      return { id: above, why: seen.size === 1 ? 'manager' : 'next manager' }
    seen.add(above)
    above = one?.managerId ?? null
  }
  return null
}

/** Those of a team who may; null where nobody is left. */
function leftOf({ users, groups }: Team, people: PeopleById, without: ReadonlySet<string>) {
  const left = {
    users: users.filter((id) => !without.has(id) && people.get(id)?.isAble === true).sort(),
    groups: [...groups]
      .filter(([, members]) => members.some((id) => !without.has(id)))
      .map(([id]) => id)
      .sort(),
  }
  return left.users.length + left.groups.length > 0 ? left : null
}
