/** What breaks a rule of separation of duties, and how that changes a request. */
import { describe, expect, test } from 'vitest'
import { judged } from '../../../runtime/core/requests/separation-effect.ts'
import {
  broken,
  brokenBy,
  overlap,
  strictest,
  type Thing,
} from '../../../runtime/core/separation/rules.ts'

const RULE = {
  left: { apps: ['ledger'], permissions: ['pay'] },
  right: { apps: [], permissions: ['approve', 'audit'] },
}
const held = (...things: Thing[]) => new Set(things)

describe('a rule', () => {
  test.each<[string, Thing[], ReturnType<typeof broken>]>([
    ['is not broken by a person without access', [], null],
    ['is not broken by a person with access of one side', ['app ledger', 'permission pay'], null],
    ['is not broken by access that it does not name', ['app other', 'permission audit'], null],
    [
      'is broken by one access of each side',
      ['app ledger', 'permission audit'],
      { left: ['app ledger'], right: ['permission audit'] },
    ],
    [
      'reports all access of both sides',
      ['permission audit', 'permission pay', 'app ledger', 'permission approve'],
      {
        left: ['app ledger', 'permission pay'],
        right: ['permission approve', 'permission audit'],
      },
    ],
  ])('%s', (_, things, expected) => {
    expect(broken(RULE, held(...things))).toEqual(expected)
  })

  test.each<[string, Thing[], Thing[], Thing[] | null]>([
    ['access that it does not name', ['permission pay'], ['permission other'], null],
    ['more access of the same side', ['permission pay'], ['app ledger'], null],
    ['access of the other side', ['permission pay'], ['permission audit'], ['permission pay']],
    [
      'access of the first side by a person with the second',
      ['permission audit'],
      ['app ledger'],
      ['permission audit'],
    ],
    ['both sides at once', [], ['app ledger', 'permission audit'], []],
    [
      'more access on a side of a broken rule',
      ['app ledger', 'permission audit'],
      ['permission approve'],
      ['app ledger'],
    ],
  ])('is checked against a request for %s', (_, has, asked, against) => {
    expect(brokenBy(RULE, held(...has), asked)).toEqual(against)
  })

  test('reports what it has on both sides', () => {
    expect(overlap(RULE)).toEqual([])
    expect(
      overlap({ ...RULE, right: { apps: ['ledger'], permissions: ['pay', 'audit'] } }),
    ).toEqual(['app ledger', 'permission pay'])
  })
})

const rule = (id: string, onRequest: 'WARN' | 'EXCEPTION' | 'BLOCK', users: string[] = []) => ({
  ...{ id, name: `rule ${id}`, onRequest },
  ...{ approverUserIds: users, approverGroupIds: [] },
})

describe('the rules that a request would break', () => {
  const plan = {
    ...{ manager: false, stages: [], message: null },
    validationWebhook: null,
  }

  test('apply the strictest of them', () => {
    const [warn, except, block] = [rule('1', 'WARN'), rule('2', 'EXCEPTION'), rule('3', 'BLOCK')]
    expect(strictest([])).toBeNull()
    expect(strictest([warn])).toBe('WARN')
    expect(strictest([except, warn])).toBe('EXCEPTION')
    expect(strictest([warn, block, except])).toBe('BLOCK')
  })

  test('leave the plan unchanged if they only warn', () => {
    expect(judged(plan, [rule('1', 'WARN')])).toMatchObject({ verdict: 'WARN', rules: ['1'], plan })
    expect(judged(plan, [])).toMatchObject({ verdict: null, rules: [], plan })
  })

  test('add one decision after all others for exceptions', () => {
    const asked = [
      rule('1', 'EXCEPTION', ['eve']),
      rule('2', 'WARN'),
      rule('3', 'EXCEPTION', ['eve', 'max']),
    ]
    expect(judged(plan, asked).plan).toEqual({
      ...plan,
      // An empty stage stands for the admins, who decide as before.
      stages: [
        { users: [], groups: [] },
        { users: ['eve', 'max'], groups: [] },
      ],
      exception: ['rule 1', 'rule 3'],
    })
    const managed = { ...plan, manager: true }
    expect(judged(managed, asked).plan.stages).toEqual([{ users: ['eve', 'max'], groups: [] }])
  })

  test('are named in a message that says what to do', () => {
    const { words } = judged(plan, [rule('1', 'BLOCK')])
    expect(words).toContain('“rule 1”')
    expect(words).toContain('revoked first')
  })
})
