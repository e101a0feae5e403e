/** Who reviews what a person has. */
import { expect, test } from 'vitest'
import {
  type PeopleById,
  reviewersOf,
  type Sources,
  type Team,
} from '../../../runtime/core/reviews/reviewers.ts'

const nobody: Team = { users: [], groups: new Map() }
const team = (...users: string[]): Team => ({ users, groups: new Map() })

/** ada -> ben -> cy, and dan who manages himself. `gone` cannot sign in. */
const people = (...gone: string[]): PeopleById =>
  new Map(
    Object.entries({ ada: 'ben', ben: 'cy', cy: null, dan: 'dan', eve: null, fay: null }).map(
      ([id, managerId]) => [id, { managerId, isAble: !gone.includes(id) }],
    ),
  )

const sources = (more: Partial<Sources> = {}): Sources => ({
  people: people(),
  named: nobody,
  lastTime: new Map(),
  appAdmins: team('eve'),
  domainAdmins: team('fay'),
  ...more,
})

const users = (...args: Parameters<typeof reviewersOf>) => reviewersOf(...args).users
const of = (userId: string | null, ...involved: string[]) => ({ userId, involved, keptById: null })

test('the manager reviews, and the next one where that one has left', () => {
  expect(reviewersOf('MANAGERS', of('ada'), sources())).toMatchObject({
    users: ['ben'],
    why: 'manager',
  })
  expect(reviewersOf('MANAGERS', of('ada'), sources({ people: people('ben') }))).toMatchObject({
    users: ['cy'],
    why: 'next manager',
  })
})

test('admins of the app review where no manager is left, then those of the domain', () => {
  expect(users('MANAGERS', of('cy'), sources())).toEqual(['eve'])
  expect(users('MANAGERS', of(null), sources())).toEqual(['eve'])
  expect(users('MANAGERS', of('cy'), sources({ appAdmins: nobody }))).toEqual(['fay'])
  expect(users('MANAGERS', of('cy'), sources({ people: people('eve') }))).toEqual(['fay'])
})

test('a chain of managers that closes to a ring ends', () => {
  expect(users('MANAGERS', of('dan'), sources())).toEqual(['eve'])
})

test('nobody reviews their own access', () => {
  expect(users('APP_ADMINS', of('eve'), sources())).toEqual(['fay'])
  expect(users('NAMED', of('ada'), sources({ named: team('ada', 'cy') }))).toEqual(['cy'])
  const alone = sources({ appAdmins: nobody, domainAdmins: team('fay') })
  expect(reviewersOf('APP_ADMINS', of('fay'), alone)).toMatchObject({ users: [], groups: [] })
})

test('who approved something reviews it only where nobody else is left', () => {
  expect(users('MANAGERS', of('ada', 'ben'), sources())).toEqual(['cy'])
  expect(users('MANAGERS', of('ada', 'ben', 'cy'), sources())).toEqual(['eve'])
  expect(users('MANAGERS', of('ada', 'ben', 'cy', 'eve', 'fay'), sources())).toEqual(['ben'])
})

test('who kept a line never confirms it, even where nobody else is left', () => {
  const kept = { ...of('ada'), keptById: 'ben' }
  expect(users('MANAGERS', kept, sources())).toEqual(['cy'])
  const alone = sources({ appAdmins: nobody, domainAdmins: team('fay') })
  expect(reviewersOf('APP_ADMINS', { ...of('ada'), keptById: 'fay' }, alone)).toMatchObject({
    ...{
      users: [],
      groups: [],
      why: expect.stringMatching(/no eligible reviewer is left.*reassign/),
    },
  })
  const group: Team = { users: [], groups: new Map([['g', ['ben']]]) }
  expect(reviewersOf('NAMED', kept, sources({ named: group })).groups).toEqual([])
})

test('a group reviews as long as it has a member who may', () => {
  const group = (...members: string[]): Team => ({ users: [], groups: new Map([['g', members]]) })
  expect(reviewersOf('NAMED', of('ada'), sources({ named: group('ada', 'ben') })).groups).toEqual([
    'g',
  ])
  expect(users('NAMED', of('ada'), sources({ named: group('ada') }))).toEqual(['eve'])
})

test('who reviewed it last time does so again; where that is nobody, as managers do', () => {
  const lastTime = new Map([
    ['ada', team('dan', 'eve')],
    ['cy', team('cy')],
    ['', team('fay')],
  ])
  const again = (who: string | null, ...gone: string[]) =>
    users('AS_LAST_TIME', of(who), sources({ lastTime, people: people(...gone) }))
  expect([again('ada'), again('ada', 'dan'), again(null)]).toEqual([
    ['dan', 'eve'],
    ['eve'],
    ['fay'],
  ])
  expect([again('ada', 'dan', 'eve'), again('ben')]).toEqual([['ben'], ['cy']])
  // People cannot review their own access, also where they did.
  expect(again('cy')).toEqual(['eve'])
})
