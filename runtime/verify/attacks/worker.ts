import type { Attack } from './attack.ts'

/** Actions for which the worker is killed. Its call ends with a classified error. */
const KILLED = [
  'an unknown call',
  'a head that is not JSON',
  'a head without its members',
  'a negative length',
  'a length beyond the body',
  'a cursor too long',
  'a refusal of its own making',
  'a message for workers',
  'a kind that does not exist',
  'a body taken that never was sent',
  'a fetch of no form',
  'a header too long',
  'a frame too large',
  'a stream begun twice',
  'a frame of no stream',
  'a message of gigabytes',
  'random bytes',
  'random messages',
  'messages cut and joined at random',
  'answers in the name of every call',
  'closing its pipe',
  'exiting as if all were well',
  'crying memory before it exits',
  'never answering',
  'answering pings only',
  'not reading any more',
]

/** Actions that a worker may take: they are bounded and survived. */
const SURVIVED = [
  'a log line nested without end',
  'log lines without end',
  'fetches without end',
  'an answer twice',
  'the end of isolates that never were',
  'aborts of fetches that never were',
]

const QUICK = ['random messages', 'a message of gigabytes', 'fetches without end']

/** Returns the name of an action's attack. Names of files and connectors consist of letters and `-`. */
const nameOf = (action: string): string =>
  `worker-${action.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`

export const WORKER: readonly Attack[] = [...KILLED, ...SURVIVED].map((action) => ({
  name: nameOf(action),
  promise: 1,
  action,
  workerMayDie: true,
  deadlineMs: 1000,
  ends: SURVIVED.includes(action)
    ? ['answer', 'rate_limit', 'service_error']
    : ['service_error', 'request_timeout'],
  ...(QUICK.includes(action) ? { quick: true as const } : {}),
}))
