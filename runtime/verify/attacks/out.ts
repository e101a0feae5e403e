import type { Attack } from './attack.ts'

const nothingFound = ['answer'] as const

export const OUT: readonly Attack[] = [
  { name: 'constructor-chains', promise: 2, ends: nothingFound, deadlineMs: 5000, quick: true },
  { name: 'function-constructors', promise: 2, ends: nothingFound, deadlineMs: 2000 },
  { name: 'global-names', promise: 2, ends: nothingFound, deadlineMs: 2000 },
  { name: 'dynamic-import', promise: 2, ends: nothingFound, deadlineMs: 2000 },
  { name: 'stack-frames', promise: 2, ends: nothingFound, deadlineMs: 2000 },
  { name: 'callers', promise: 2, ends: nothingFound, deadlineMs: 2000 },
  { name: 'errors-of-the-host', promise: 2, ends: nothingFound, deadlineMs: 2000, quick: true },
  {
    name: 'arguments-of-the-bridge',
    promise: 2,
    ends: ['answer', 'request_timeout'],
    deadlineMs: 2000,
  },
  {
    name: 'places-that-lie',
    promise: 2,
    ends: ['unexpected_error'],
    deadlineMs: 2000,
    never: /etc\/passwd/,
  },
  { name: 'native-syntax', promise: 2, ends: nothingFound, deadlineMs: 2000 },
  { name: 'memory-of-others', promise: 2, ends: nothingFound, deadlineMs: 2000 },
]
