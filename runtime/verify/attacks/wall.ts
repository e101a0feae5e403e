import type { Attack } from './attack.ts'

const judged = ['answer', 'invalid_response'] as const
const failed = ['unexpected_error', 'invalid_response', 'answer'] as const
const upstream = [{ base_url: '{upstream}' }]

/** Claims that an error raised by a connector must not make. */
const POSES = /"raised_by":"Keyway/

/** Deadline of attacks that end at once, in milliseconds: the machine may be busy. */
const PATIENT_MS = 2000

const ATTACKS: readonly Attack[] = [
  {
    name: 'pollution-by-request',
    promise: 1,
    ends: ['answer', 'bad_request'],
    requestJson:
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"custom_attributes":["__proto__"]}',
  },
  { name: 'pollution-by-reply', promise: 1, ends: judged, quick: true },
  { name: 'pollution-by-upstream', promise: 1, ends: judged, settings: upstream, granted: true },
  { name: 'thenable-twice', promise: 1, ends: ['answer'] },
  {
    name: 'nested-thenables',
    promise: 1,
    ends: ['request_timeout', 'service_error'],
    workerMayDie: true,
  },
  { name: 'getter-that-flips', promise: 1, ends: judged },
  { name: 'symbols', promise: 1, ends: judged },
  { name: 'inspect-symbol', promise: 2, ends: ['unexpected_error'] },
  { name: 'revoked-proxy', promise: 1, ends: ['invalid_response', 'unexpected_error'] },
  {
    name: 'throw-endless-proxy',
    promise: 1,
    ends: ['unexpected_error', 'request_timeout'],
    workerMayDie: true,
  },
  { name: 'throw-odd-values', promise: 1, ends: ['unexpected_error'], calls: 13 },
  {
    name: 'odd-error-codes',
    promise: 1,
    ends: ['unexpected_error', 'internal_error'],
    calls: 18,
    quick: true,
  },
  { name: 'error-poses-as-runtime', promise: 1, ends: ['internal_error'], never: POSES },
  {
    name: 'poisoned-built-ins',
    promise: 1,
    ends: ['answer', 'unexpected_error', 'invalid_response', 'request_timeout'],
  },
  { name: 'poisoned-promise', promise: 1, ends: ['answer', 'request_timeout'] },
  { name: 'poisoned-json', promise: 1, ends: ['answer', 'invalid_response'] },
  { name: 'take-the-bridge', promise: 2, ends: ['answer'], quick: true },
  { name: 'other-exports-each-time', promise: 1, ends: ['ghost', 'answer'] },
  { name: 'reply-not-json', promise: 1, ends: judged, calls: 14 },
  { name: 'reply-cyclic', promise: 1, ends: ['invalid_response'] },
  {
    name: 'reply-gigantic',
    promise: 1,
    ends: ['invalid_response', 'service_error'],
    deadlineMs: 3000,
    memoryMb: 256,
    quick: true,
  },
  {
    name: 'reply-of-escapes',
    promise: 1,
    ends: ['invalid_response', 'service_error'],
    deadlineMs: 3000,
    memoryMb: 256,
  },
  { name: 'reply-of-wrong-shape', promise: 1, ends: ['invalid_response'], calls: 10 },
  { name: 'forged-page', promise: 1, ends: judged, calls: 10 },
  { name: 'forged-head', promise: 1, ends: ['invalid_response'] },
  { name: 'raw-gigantic', promise: 1, ends: failed, deadlineMs: 3000, memoryMb: 256 },
  { name: 'odd-text', promise: 1, ends: judged },
  {
    name: 'context-of-an-earlier-call',
    promise: 2,
    ends: ['answer'],
    calls: 6,
    tenants: 2,
    settings: upstream,
    granted: true,
  },
  { name: 'unhandled-rejections', promise: 1, ends: ['answer'], calls: 3 },
]

export const WALL: readonly Attack[] = ATTACKS.map((attack) => ({
  ...(attack.ends.includes('request_timeout') ? {} : { deadlineMs: PATIENT_MS }),
  ...attack,
}))
