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

test('a worker that dies again and again waits longer each time, up to a bound', () => {
  const { die } = open()
  expect(Array.from({ length: 8 }, die)).toEqual([0, 0, 100, 200, 400, 800, 1000, 1000])
})

test('only time without a death brings the pause down', () => {
  const { die, pass } = open()
  for (let death = 0; death < 6; death += 1) die()
  pass(29_000)
  expect(die()).toBe(1000)
  pass(30_000)
  expect(die()).toBe(0)
})

test('a pause ends by itself', () => {
  const { die, backOff, pass } = open()
  for (let death = 0; death < 3; death += 1) die()
  pass(60)
  expect(backOff.pauseMs()).toBe(40)
  pass(60)
  expect(backOff.pauseMs()).toBe(0)
})
