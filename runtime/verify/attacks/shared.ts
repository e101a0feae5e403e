import type { Attack } from './attack.ts'

/** Maximum delay of another tenant's call by the worker's thread, in milliseconds. */
const BESIDE_MS = 1000

/** Maximum delay if the worker has to be killed and replaced, in milliseconds. */
const KILLED_BESIDE_MS = 2500

const KILLS = { workerMayDie: true, otherTenantMs: KILLED_BESIDE_MS } as const

const ATTACKS: readonly (Pick<Attack, 'name' | 'ends'> & Partial<Attack>)[] = [
  { name: 'first-call-spins', ends: ['request_timeout'], calls: 3, together: 3, quick: true },
  {
    name: 'first-call-fills-memory',
    ends: ['service_error', 'request_timeout'],
    deadlineMs: 3000,
    ...KILLS,
  },
  {
    name: 'first-call-in-native-code',
    ends: ['request_timeout', 'service_error'],
    deadlineMs: 1000,
    ...KILLS,
  },
  {
    name: 'first-call-splits-text',
    ends: ['service_error', 'request_timeout'],
    deadlineMs: 2000,
    ...KILLS,
  },
  {
    name: 'native-code-from-then-on',
    ends: ['answer', 'request_timeout', 'service_error'],
    calls: 14,
    deadlineMs: 1000,
    ...KILLS,
  },
  {
    name: 'rejection-that-spins-when-read',
    ends: ['answer', 'request_timeout', 'service_error'],
    deadlineMs: 1000,
    ...KILLS,
  },
  ...[3, 15, 24].map((sliceMs) => ({
    name: `slices-of-${sliceMs}-ms`,
    shared: { source: 'slices-of', parameter: `export const SLICE_MS = ${sliceMs}` },
    ends: ['answer'] as const,
    calls: 2,
    together: 2,
  })),
  {
    name: 'heavy-from-then-on',
    shared: slowCalls('call > 60'),
    ends: ['answer'],
    calls: 80,
    together: 2,
  },
  {
    name: 'light-and-heavy-in-turn',
    shared: slowCalls('call % 2 === 0'),
    ends: ['answer'],
    calls: 24,
    together: 2,
  },
  {
    name: 'flood-of-microtasks',
    ends: ['request_timeout', 'service_error'],
    calls: 2,
    together: 2,
  },
  { name: 'heavy-page', ends: ['answer'], pages: 12 },
]

/** Generous deadline for attacks that end at once, in milliseconds: the machine may be busy. */
const PATIENT_MS = 5000

/** Makes a connector whose calls are slow if `condition` holds for their number. */
function slowCalls(condition: string): NonNullable<Attack['shared']> {
  return {
    source: 'slow-calls',
    parameter: `export const isSlow = (call: number) => ${condition}`,
  }
}

export const SHARED: readonly Attack[] = ATTACKS.map((attack) => ({
  promise: 1,
  otherTenantMs: BESIDE_MS,
  ...(attack.ends.includes('answer') ? { deadlineMs: PATIENT_MS } : {}),
  ...attack,
}))
