/** Who reviews the access of a person. */
import { expect, test } from 'vitest'
import {
  type PeopleById,
  reviewersOf,
  type Sources,
  type Team,
} from '../../../runtime/core/reviews/reviewers.ts'

const nobody: Team = { users: [], groups: new Map() }
const team = (...users: string[]): Team => ({ users, groups: new Map() })

/** The managers are ada -> ben -> cy, and dan manages himself. The people in `gone` cannot sign in. */
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

test('the manager reviews, or the next manager if that one has left', () => {
  expect(reviewersOf('MANAGERS', of('ada'), sources())).toMatchObject({
    users: ['ben'],
    why: 'manager',
  })
  expect(reviewersOf('MANAGERS', of('ada'), sources({ people: people('ben') }))).toMatchObject({
    users: ['cy'],
    why: 'next manager',
  })
})

test('admins of the app review if no manager is left, then admins of the domain', () => {
  expect(users('MANAGERS', of('cy'), sources())).toEqual(['eve'])
  expect(users('MANAGERS', of(null), sources())).toEqual(['eve'])
  expect(users('MANAGERS', of('cy'), sources({ appAdmins: nobody }))).toEqual(['fay'])
  expect(users('MANAGERS', of('cy'), sources({ people: people('eve') }))).toEqual(['fay'])
})

test('a cycle of managers falls back to admins of the app', () => {
  expect(users('MANAGERS', of('dan'), sources())).toEqual(['eve'])
})

test('people never review their own access', () => {
  expect(users('APP_ADMINS', of('eve'), sources())).toEqual(['fay'])
  expect(users('NAMED', of('ada'), sources({ named: team('ada', 'cy') }))).toEqual(['cy'])
  const alone = sources({ appAdmins: nobody, domainAdmins: team('fay') })
  expect(reviewersOf('APP_ADMINS', of('fay'), alone)).toMatchObject({ users: [], groups: [] })
})

test('a person who approved access reviews it only if no one else is left', () => {
  expect(users('MANAGERS', of('ada', 'ben'), sources())).toEqual(['cy'])
  expect(users('MANAGERS', of('ada', 'ben', 'cy'), sources())).toEqual(['eve'])
  expect(users('MANAGERS', of('ada', 'ben', 'cy', 'eve', 'fay'), sources())).toEqual(['ben'])
})

test('a person who kept a line never confirms it, even if no one else is left', () => {
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

test('a group reviews if it has an eligible member', () => {
  const group = (...members: string[]): Team => ({ users: [], groups: new Map([['g', members]]) })
  expect(reviewersOf('NAMED', of('ada'), sources({ named: group('ada', 'ben') })).groups).toEqual([
    'g',
  ])
  expect(users('NAMED', of('ada'), sources({ named: group('ada') }))).toEqual(['eve'])
})

test('AS_LAST_TIME asks the last reviewers, or falls back to managers if none is left', () => {
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
  // People cannot review their own access, even if they did so last time.
  expect(again('cy')).toEqual(['eve'])
})
