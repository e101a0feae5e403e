/** The people of the sample directory: invented, and the same on every start. */

/** A person. `managerId` is the head of the department, or null for the heads themselves. */
export type Person = {
  id: string
  givenName: string
  familyName: string
  email: string
  title: string
  department: string
  managerId: string | null
  active: boolean
}

/** Number of people. */
export const PEOPLE_COUNT = 250

/** Departments with their titles. The first title is the head's. */
const DEPARTMENTS: Readonly<Record<string, readonly string[]>> = {
  Engineering: ['Head of Engineering', 'Software Engineer', 'Site Reliability Engineer', 'Tester'],
  Design: ['Head of Design', 'Product Designer', 'User Researcher', 'Illustrator'],
  Sales: ['Head of Sales', 'Account Executive', 'Sales Engineer', 'Account Manager'],
  Marketing: ['Head of Marketing', 'Content Strategist', 'Campaign Manager', 'Event Manager'],
  Finance: ['Head of Finance', 'Accountant', 'Controller', 'Payroll Specialist'],
  People: ['Head of People', 'Recruiter', 'HR Partner', 'Office Manager'],
  Legal: ['General Counsel', 'Legal Counsel', 'Paralegal', 'Privacy Officer'],
  Support: ['Head of Support', 'Support Engineer', 'Support Agent', 'Trainer'],
}

const GIVEN_NAMES =
  `Ada Amir Anaïs Anna Ben Björn Carla Chen Clara Daniel Daria Diego Elena Emeka Emma Felix Fatima
  Freya George Grace Hana Hugo Ines Ivan Jana Jonas José Julia Kai Lars Leila Lena Lucas Maria Max
  Mei Mila Nadia Noah Nora Omar Oscar Priya Rafael Rosa Samuel Sofia Tomás Yuki Zoë`.split(/\s+/)

const FAMILY_NAMES =
  `Abbott Almeida Andersen Baker Bauer Becker Bianchi Carter Castillo Cohen Costa Diaz Dubois Evans
  Fischer Fontaine García Haddad Hansen Hughes Ito Jansen Johnson Kaya Khan Kim Kowalski Kumar
  Larsen Lindqvist Martin Mendes Meyer Moreau Müller Nakamura Nguyen Novak Okafor Olsen Patel
  Petrov Ricci Rossi Santos Schmidt Silva Tanaka Walker Weber`.split(/\s+/)

/** Returns all people, ordered by id. Every 25th is inactive. */
export function people(): Person[] {
  return Array.from({ length: PEOPLE_COUNT }, (_, i) => personAt(i))
}

/** Returns the groups of the directory by name, with their members. */
export function groupsOf(everyone: readonly Person[]): Record<string, Person[]> {
  const staff = everyone.filter((person) => person.active)
  const byDepartment = Object.keys(DEPARTMENTS).map(
    (name) => [name, everyone.filter((person) => person.department === name)] as const,
  )
  return {
    ...Object.fromEntries(byDepartment),
    'All Staff': staff,
    'Department Heads': everyone.filter((person) => person.managerId === null),
    'On Call': staff.filter((person) => person.title === 'Site Reliability Engineer'),
    'Office Move 2027': [],
  }
}

function personAt(i: number): Person {
  const names = Object.keys(DEPARTMENTS)
  const department = at(names, i)
  const nth = Math.floor(i / names.length)
  const titles = DEPARTMENTS[department] ?? []
  const givenName = at(GIVEN_NAMES, i)
  // Shifts by one after every round of given names, so that no two people have the same name.
  const familyName = at(FAMILY_NAMES, i * 7 + Math.floor(i / GIVEN_NAMES.length))
  return {
    id: idOf(i),
    givenName,
    familyName,
    email: `${plain(givenName)}.${plain(familyName)}@example.com`,
    title: nth === 0 ? at(titles, 0) : at(titles.slice(1), nth),
    department,
    managerId: nth === 0 ? null : idOf(names.indexOf(department)),
    active: (i + 1) % 25 !== 0,
  }
}

const idOf = (i: number): string => `u-${String(i + 1).padStart(3, '0')}`

const at = (values: readonly string[], i: number): string => values[i % values.length] ?? ''

/** Converts a name to lower case without accents, as in email addresses. */
const plain = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{Diacritic}/gu, '')
    .toLowerCase()
