import type { Attack } from '../attack.ts'

/** What a thread of the worker is held up by at most: no other tenant's call may wait for longer. */
const BESIDE_MS = 1000

/** The same where the worker has to be killed first, and another to be started. */
const KILLED_BESIDE_MS = 2500

const ATTACKS: readonly (Pick<Attack, 'name' | 'ends'> & Partial<Attack>)[] = [
  { name: 'first-call-spins', ends: ['request_timeout'], calls: 3, together: 3, quick: true },
  {
    name: 'first-call-fills-memory',
    ends: ['service_error', 'request_timeout'],
    deadlineMs: 3000,
    workerMayDie: true,
    besideMs: KILLED_BESIDE_MS,
  },
  {
    name: 'first-call-in-native-code',
    ends: ['request_timeout', 'service_error'],
    deadlineMs: 1000,
    workerMayDie: true,
    besideMs: KILLED_BESIDE_MS,
  },
  {
    name: 'first-call-splits-text',
    ends: ['service_error', 'request_timeout'],
    deadlineMs: 2000,
    workerMayDie: true,
    besideMs: KILLED_BESIDE_MS,
  },
  { name: 'slices-of-3-ms', ends: ['answer'], calls: 2, together: 2 },
  { name: 'slices-of-15-ms', ends: ['answer'], calls: 2, together: 2 },
  { name: 'slices-of-24-ms', ends: ['answer'], calls: 2, together: 2 },
  { name: 'heavy-from-then-on', ends: ['answer'], calls: 80, together: 2 },
  { name: 'light-and-heavy-in-turn', ends: ['answer'], calls: 24, together: 2 },
  {
    name: 'flood-of-microtasks',
    ends: ['request_timeout', 'service_error'],
    calls: 2,
    together: 2,
  },
  { name: 'heavy-page', ends: ['answer'], pages: 12 },
]

/** Those that end at once have time, for a machine that does other things. */
const PATIENT_MS = 5000

export const SHARED: readonly Attack[] = ATTACKS.map((attack) => ({
  promise: 1,
  besideMs: BESIDE_MS,
  ...(attack.ends.includes('answer') ? { deadlineMs: PATIENT_MS } : {}),
  ...attack,
}))
