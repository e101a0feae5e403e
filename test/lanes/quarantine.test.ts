import { describe, expect, test } from 'vitest'
import { createQuarantineBook } from '../../runtime/lanes/quarantine.ts'

const LIMITS = {
  aloneMs: 100,
  maxDeaths: 3,
  memoryMs: 1000,
  quarantineMs: 500,
  maxQuarantineMs: 800,
}

function book() {
  let nowMs = 0
  const standing = createQuarantineBook(() => nowMs, LIMITS)
  return { ...standing, pass: (ms: number) => (nowMs += ms) }
}

describe('a worker that dies', () => {
  test('with several connectors in it makes all of them suspects, which run alone for a while', () => {
    const { died, of, alone, pass } = book()
    died(['a', 'b'])
    expect([of('a').state, of('b').state, of('c').state]).toEqual(['suspect', 'suspect', 'clear'])
    expect(alone('a')).toBe(true)
    pass(100)
    expect([of('a').state, alone('b')]).toEqual(['clear', false])
  })

  test('again with the same connector makes that connector run alone for longer', () => {
    const { died, of, pass } = book()
    died(['a', 'b'])
    pass(100)
    died(['a', 'c'])
    pass(100)
    expect([of('a').state, of('c').state]).toEqual(['suspect', 'clear'])
  })

  test('never quarantines a connector that was not alone', () => {
    const { died, of } = book()
    for (let n = 0; n < 20; n += 1) died(['a', 'b'])
    expect(of('a').state).toBe('suspect')
  })

  test('repeatedly with only one connector in it quarantines that connector for quarantineMs', () => {
    const { died, of, pass } = book()
    died(['a'])
    died(['a'])
    expect(of('a').state).toBe('suspect')
    died(['a'])
    expect(of('a')).toMatchObject({ state: 'quarantined', untilMs: 500 })
    pass(500)
    expect(of('a').state).not.toBe('quarantined')
  })

  test('soon after a quarantine causes a longer one, up to maxQuarantineMs', () => {
    const { died, of, pass } = book()
    for (let n = 0; n < 3; n += 1) died(['a'])
    pass(500)
    died(['a'])
    died(['a'])
    expect(of('a')).toMatchObject({ state: 'quarantined', untilMs: 500 + 800 })
  })

  test('is forgotten after memoryMs', () => {
    const { died, of, pass } = book()
    died(['a'])
    died(['a'])
    pass(1000)
    died(['a'])
    expect(of('a').state).toBe('suspect')
  })
})

test('a released connector starts without a history', () => {
  const { died, of, release, count } = book()
  for (let n = 0; n < 3; n += 1) died(['a'])
  expect(count('quarantined')).toBe(1)
  expect(release('a')).toBe(true)
  expect(release('a')).toBe(false)
  expect(of('a')).toEqual({ state: 'clear' })
  died(['a'])
  expect(of('a').state).toBe('suspect')
  expect([count('suspect'), count('quarantined')]).toEqual([1, 0])
})
