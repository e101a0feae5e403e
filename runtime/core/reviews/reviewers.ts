/** Choice of reviewers. No one reviews their own access, or access they granted if anyone else can. Pure. */
import type { REVIEWER_KINDS } from '../../contract/models/review-item.ts'

/** Kind of reviewers, as chosen by the owner. */
export type ReviewerKind = (typeof REVIEWER_KINDS)[number]

/** Managers of people, and whether the people can sign in. */
export type PeopleById = ReadonlyMap<string, { managerId: string | null; isAble: boolean }>

/** People, and groups with their members who can sign in. */
export type Team = { users: readonly string[]; groups: ReadonlyMap<string, readonly string[]> }

/** Facts from which reviewers are chosen. */
export type Sources = {
  people: PeopleById
  named: Team
  /** Previous reviewers of the app, by person; by an empty text for lines without a person. */
  lastTime: ReadonlyMap<string, Team>
  appAdmins: Team
  domainAdmins: Team
}

/** Person whose lines are reviewed, and the people involved in granting them. */
export type Subject = {
  userId: string | null
  involved: readonly string[]
  /** Person who kept the line first, and may not confirm it. */
  keptById: string | null
}

/** Chosen reviewers, and the reason. */
export type Reviewers = { users: string[]; groups: string[]; why: string }

/** Maximum length of a chain of managers. */
const MAX_MANAGERS = 50

/** Returns the reviewers of a subject, without users and groups if no one is left. */
export function reviewersOf(kind: ReviewerKind, subject: Subject, sources: Sources): Reviewers {
  return (
    uninvolvedOf(kind, subject, sources) ??
    among(kind, subject, sources, new Set(barred(subject))) ?? {
      ...{ users: [], groups: [] },
      why: 'no eligible reviewer is left; reassign it',
    }
  )
}

/** Like `reviewersOf`, only people who were not involved in granting it. Null if none is left. */
export const uninvolvedOf = (
  kind: ReviewerKind,
  subject: Subject,
  sources: Sources,
): Reviewers | null =>
  among(kind, subject, sources, new Set([...barred(subject), ...subject.involved]))

/** People who never review a subject: the person, and the one who kept the line first. */
const barred = ({ userId, keptById }: Subject): string[] =>
  [userId, keptById].filter((one) => one !== null)

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

/** Returns the first manager above a person who can sign in and is not excluded, or null. Ends at a cycle. */
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

/** Returns the members of a team who may review, or null if there are none. */
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
