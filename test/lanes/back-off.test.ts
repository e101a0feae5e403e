import { expect, test } from 'vitest'
import { createBackOff } from '../../runtime/lanes/back-off.ts'

function open() {
  let now = 1_000_000
  const limits = { restartMs: 100, maxRestartMs: 1000, calmMs: 30_000 }
  const backOff = createBackOff(limits, () => now)
  const die = () => {
    now += backOff.pauseMs()
    backOff.died()
    return backOff.pauseMs()
  }
  return { die, backOff, pass: (ms: number) => (now += ms) }
}

test('a worker that keeps dying waits longer before each restart, up to a limit', () => {
  const { die } = open()
  expect(Array.from({ length: 8 }, die)).toEqual([0, 0, 100, 200, 400, 800, 1000, 1000])
})

test('the pause is reset only after calmMs without a death', () => {
  const { die, pass } = open()
  for (let death = 0; death < 6; death += 1) die()
  pass(29_000)
  expect(die()).toBe(1000)
  pass(30_000)
  expect(die()).toBe(0)
})

test('a pause runs out as time passes', () => {
  const { die, backOff, pass } = open()
  for (let death = 0; death < 3; death += 1) die()
  pass(60)
  expect(backOff.pauseMs()).toBe(40)
  pass(60)
  expect(backOff.pauseMs()).toBe(0)
})
