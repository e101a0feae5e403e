import type { Attack } from './attack.ts'

const late = ['request_timeout'] as const
/** The memory may run out before the time. */
const lateOrFull = ['request_timeout', 'service_error'] as const

/**
 * Delay after which `loop-at-later-load` loops at load, in milliseconds. Longer than the check of its folder
 * takes.
 */
const ARMED_MS = 4000

export const TIME: readonly Attack[] = [
  { name: 'loop-at-load', promise: 1, ends: ['ghost'] },
  {
    name: 'loop-at-later-load',
    promise: 1,
    ends: late,
    armedAfterMs: ARMED_MS,
    files: () => ({ 'armed.json': JSON.stringify({ armedFromMs: Date.now() + ARMED_MS - 200 }) }),
    staysDown: true,
  },
  { name: 'loop-in-handler', promise: 1, ends: late, quick: true },
  { name: 'loop-after-await', promise: 1, ends: late },
  { name: 'loop-after-fetch', promise: 1, ends: late },
  { name: 'loop-in-timer', promise: 1, ends: late },
  { name: 'loop-after-answer', promise: 1, ends: ['answer', ...late] },
  { name: 'loop-in-abort-listener', promise: 1, ends: late },
  { name: 'microtask-chain', promise: 1, ends: lateOrFull },
  { name: 'timer-storm', promise: 1, ends: late, quick: true },
  { name: 'loop-in-getter', promise: 1, ends: late },
  { name: 'loop-in-to-json', promise: 1, ends: [...late, 'answer'] },
  { name: 'loop-in-proxy-trap', promise: 1, ends: [...late, 'invalid_response'] },
  { name: 'loop-in-thenable', promise: 1, ends: late },
  { name: 'loop-in-error', promise: 1, ends: [...late, 'unexpected_error'] },
  { name: 'loop-in-prepare-stack-trace', promise: 1, ends: [...late, 'unexpected_error'] },
  { name: 'loop-that-catches', promise: 1, ends: lateOrFull, workerMayDie: true },
  { name: 'regular-expression', promise: 1, ends: late },
  { name: 'bigint-power', promise: 1, ends: late, workerMayDie: true, quick: true },
  { name: 'native-search', promise: 1, ends: late, workerMayDie: true },
  { name: 'native-fill', promise: 1, ends: lateOrFull, workerMayDie: true },
  { name: 'spread', promise: 1, ends: [...lateOrFull, 'unexpected_error'], workerMayDie: true },
  { name: 'sort', promise: 1, ends: late },
  { name: 'never-settles', promise: 1, ends: late },
  { name: 'answer-after-deadline', promise: 1, ends: late },
]
