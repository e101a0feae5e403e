import type { Attack } from './attack.ts'

const full = ['service_error', 'request_timeout'] as const
/** The language itself may refuse. The connector then fails like any other. */
const fullOrRefused = [...full, 'unexpected_error'] as const
/** The connector may reach an upstream of the run. */
const asking = { settings: [{ base_url: '{upstream}' }], granted: true } as const

export const MEMORY: readonly Attack[] = [
  { name: 'fill-arrays', promise: 1, ends: full, deadlineMs: 3000, quick: true },
  { name: 'one-huge-array', promise: 1, ends: fullOrRefused, deadlineMs: 3000, workerMayDie: true },
  { name: 'typed-arrays', promise: 1, ends: fullOrRefused, deadlineMs: 1200 },
  { name: 'split-text', promise: 1, ends: full, deadlineMs: 2000, workerMayDie: true },
  { name: 'doubling-text', promise: 1, ends: fullOrRefused, deadlineMs: 1200, workerMayDie: true },
  { name: 'unbounded-map', promise: 1, ends: full, deadlineMs: 3000, workerMayDie: true },
  { name: 'buffers', promise: 1, ends: fullOrRefused, deadlineMs: 1200, workerMayDie: true },
  { name: 'resizable-buffer', promise: 1, ends: ['unexpected_error'], deadlineMs: 2000 },
  { name: 'intl', promise: 1, ends: full, deadlineMs: 1200, workerMayDie: true, quick: true },
  {
    name: 'json-bomb-out',
    promise: 1,
    ends: [...full, 'invalid_response'],
    deadlineMs: 1200,
    workerMayDie: true,
  },
  {
    name: 'json-deep-out',
    promise: 1,
    ends: ['invalid_response', ...full],
    deadlineMs: 2000,
    workerMayDie: true,
  },
  {
    ...asking,
    name: 'json-deep-in',
    promise: 1,
    ends: [...fullOrRefused, 'invalid_response'],
    deadlineMs: 3000,
    workerMayDie: true,
  },
  {
    ...asking,
    name: 'json-wide-in',
    promise: 1,
    ends: [...fullOrRefused, 'answer'],
    deadlineMs: 3000,
    workerMayDie: true,
  },
  { name: 'recursion', promise: 1, ends: ['unexpected_error'], deadlineMs: 2000 },
  {
    name: 'slow-leak',
    promise: 1,
    ends: ['answer', 'service_error'],
    deadlineMs: 2000,
    calls: 10_000,
    quickCalls: 1500,
    together: 4,
    quick: true,
  },
  { name: 'pending-promises', promise: 1, ends: full, deadlineMs: 1200, workerMayDie: true },
  { name: 'timers', promise: 1, ends: ['unexpected_error'], deadlineMs: 2000 },
  { name: 'timers-set-and-cleared', promise: 1, ends: ['unexpected_error'], deadlineMs: 2000 },
  { ...asking, name: 'fetches', promise: 1, ends: ['rate_limit', ...full], deadlineMs: 1200 },
  {
    ...asking,
    name: 'fetch-bodies',
    promise: 1,
    ends: full,
    deadlineMs: 1200,
    memoryMb: 256,
    workerMayDie: true,
    manifest: {
      capabilities: {
        list_accounts: { reads_with: ['POST'], because: 'it sends bodies to attack' },
        get_account: {},
      },
    },
  },
  { name: 'listeners', promise: 1, ends: full, deadlineMs: 1200, workerMayDie: true },
  { name: 'big-numbers', promise: 1, ends: fullOrRefused, deadlineMs: 1000, workerMayDie: true },
  {
    name: 'regular-expressions',
    promise: 1,
    ends: fullOrRefused,
    deadlineMs: 1200,
    workerMayDie: true,
  },
  { name: 'code', promise: 1, ends: full, deadlineMs: 1200, workerMayDie: true },
  { name: 'structured-clone', promise: 1, ends: fullOrRefused, deadlineMs: 1200 },
  { name: 'random-bytes', promise: 1, ends: ['answer', ...full], deadlineMs: 2000 },
  { name: 'error-message', promise: 1, ends: fullOrRefused, deadlineMs: 2000, workerMayDie: true },
  {
    name: 'template-and-url',
    promise: 1,
    ends: [...fullOrRefused, 'answer'],
    deadlineMs: 4000,
    workerMayDie: true,
  },
  { name: 'signatures', promise: 1, ends: full, deadlineMs: 1000, workerMayDie: true },
]
