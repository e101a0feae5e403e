/** The state machine of access requests, without a database: every event in every state. */
import { describe, expect, test } from 'vitest'
import {
  REQUEST_STATUSES,
  type RequestStatus,
} from '../../../../runtime/contract/models/access-request.ts'
import { mayBecome } from '../../../../runtime/core/machine/states.ts'
import type { EventKind, RequestEvent } from '../../../../runtime/core/requests/machine/events.ts'
import type { RequestTransition } from '../../../../runtime/core/requests/machine/request.ts'
import { judgeRevocation } from '../../../../runtime/core/requests/machine/revocation.ts'
import {
  failureMessage,
  REQUEST_STATES,
  REVOCABLE_STATES,
  standingOf,
} from '../../../../runtime/core/requests/machine/states.ts'
import { TASKS } from '../../../../runtime/core/requests/machine/tasks.ts'
import { TRANSITIONS, transition } from '../../../../runtime/core/requests/machine/transitions.ts'
import type { RequestRow } from '../../../../runtime/database/schema/requests.ts'

const NOW = new Date('2030-01-01T00:00:00Z')
const DAY_MS = 24 * 3600 * 1000
const inMs = (ms: number) => new Date(NOW.getTime() + ms)
const who = { domainId: 'd', userId: 'u' }
const approvers = { users: ['boss'], groups: [] }
const decision = { by: who, comment: 'Fine', onBehalfOf: null }

const REQUEST: RequestRow = {
  ...{ id: 'r', domainId: 'd', appId: 'a', permissionId: 'p', label: 'Reader' },
  ...{ requesterId: 'u', targetUserId: 't', policyId: null, policyFor: null },
  ...{ status: 'PENDING', notes: { PENDING: null }, stage: 0, expirationInSeconds: null },
  plan: { manager: true, stages: [approvers, approvers], message: 'Why?', validationWebhook: null },
  ...{ expiresAt: null, pendingOperation: null, fulfilment: null, entitlement: null },
  ...{ carriedAppId: 'a', preExisting: null, attempts: 0, failingSince: null, problem: null },
  ...{ wakeAt: null, createdAt: NOW, updatedAt: NOW, isBreakGlass: false },
  ...{ revokedById: null, isBlocked: false },
}

/** A request in a state, with the fields that the state implies. */
function requestIn(status: RequestStatus, more: Partial<RequestRow> = {}): RequestRow {
  const fulfilment = standingOf(status) === 'asked' ? null : 'connector'
  const pendingOperation =
    status === 'PENDING_PROVISIONING'
      ? 'grant'
      : status === 'PENDING_DEPROVISIONING' || status === 'REVERTING'
        ? 'remove'
        : null
  const notes = { ...REQUEST.notes, [status]: null }
  return { ...REQUEST, status, notes, fulfilment, pendingOperation, ...more }
}

const again = { kind: 'again', attempts: 6, failingSince: NOW, wakeAt: inMs(60_000) } as const
const failing = { problem: 'no such role', instructions: 'Ask Ann' }
const route = { entitlement: null, carriedAppId: 'b' }
const broken = { kind: 'glass_broken', by: who, reviewers: approvers, instructions: null } as const
const approved = { kind: 'approved', preapproved: null, instructions: null } as const

/** For each kind of event, the variants with different results. */
const EVENTS: { [K in EventKind]: RequestEvent<K>[] } = {
  check_required: [{ kind: 'check_required' }],
  decision_required: [
    { kind: 'decision_required', step: 'manager', approvers, failure: 'no', decision: null },
    { kind: 'decision_required', step: 1, approvers, failure: null, decision },
    { kind: 'decision_required', step: 1, approvers: null, failure: null, decision },
  ],
  approvers_remain: [{ kind: 'approvers_remain' }],
  approvers_left: [
    { kind: 'approvers_left', approvers },
    { kind: 'approvers_left', approvers: null },
  ],
  approved: [
    { ...approved, route: { ...route, fulfilment: 'connector' }, decision },
    { ...approved, route: { ...route, fulfilment: 'manual' }, decision: null },
  ],
  denied: [
    { kind: 'denied', note: null, because: null, decision },
    { kind: 'denied', note: 'Not now', because: 'a rule', decision: null },
    { kind: 'denied', note: 'Not both', because: 'a rule', decision: null, isBlocked: true },
  ],
  decision_expired: [{ kind: 'decision_expired' }],
  granted: [
    { kind: 'granted', manualSteps: null },
    { kind: 'granted', manualSteps: { instructions: 'Hand over a badge' } },
  ],
  granted_by_hand: [{ kind: 'granted_by_hand', by: who }],
  grant_refused: [{ kind: 'grant_refused', by: who }],
  grant_retried: [{ kind: 'grant_retried' }],
  access_expired: [{ kind: 'access_expired' }],
  reason_gone: [{ kind: 'reason_gone', why: 'The policy was deleted' }],
  revocation_ordered: [{ kind: 'revocation_ordered', by: who, reason: 'It was shared' }],
  revoked: [
    { kind: 'revoked', kept: null },
    { kind: 'revoked', kept: 'was_there' },
  ],
  revoked_by_hand: [{ kind: 'revoked_by_hand', by: who }],
  revocation_declined: [{ kind: 'revocation_declined', by: who }],
  revocation_retried: [{ kind: 'revocation_retried' }],
  revocation_expired: [{ kind: 'revocation_expired' }],
  leftover_settled: [{ kind: 'leftover_settled' }],
  operation_failed: [
    { kind: 'operation_failed', verdict: { kind: 'manual', problem: 'x' }, asks: true, ...failing },
    { kind: 'operation_failed', verdict: { ...again, tell: true }, asks: true, ...failing },
    { kind: 'operation_failed', verdict: { ...again, tell: false }, asks: false, ...failing },
  ],
  glass_broken: [
    { ...broken, route: { ...route, fulfilment: 'connector' } },
    { ...broken, route: { ...route, fulfilment: 'manual' } },
  ],
  glass_reviewed: [
    { kind: 'glass_reviewed', by: who, wasRight: true, reason: 'The pager went' },
    { kind: 'glass_reviewed', by: who, wasRight: false, reason: 'It was for fun' },
  ],
  cancelled: [{ kind: 'cancelled', by: who, reason: 'Not needed' }],
  nothing_due: [{ kind: 'nothing_due' }],
}

/** The states that a transition passes. */
const pathOf = (from: RequestStatus, { writes }: RequestTransition): RequestStatus[] => [
  from,
  ...writes.flatMap(({ to }) => to ?? []),
]

const kindsOf = ({ effects }: RequestTransition) => effects.map(({ kind }) => kind)

/** Every event in every state that accepts it. */
const ALL = (Object.keys(EVENTS) as EventKind[]).flatMap((kind) =>
  TRANSITIONS[kind].in
    .flatMap((status) => {
      const open = standingOf(status) !== 'asked' && status.startsWith('PENDING_MANUAL')
      const operation = status.includes('DEPROVISIONING') ? 'remove' : 'grant'
      const kept = requestIn(status)
      const isTried = kind === 'operation_failed' && open
      return isTried ? [{ ...kept, pendingOperation: operation } as const] : [kept]
    })
    // A request in a manual state has an open task already, so a failed retry does not ask again.
    .flatMap((request) =>
      EVENTS[kind]
        .filter((event) => !(isAsking(event) && request.status.startsWith('PENDING_MANUAL')))
        .filter((event) => !isForManager(event) || request.status === 'PENDING')
        .map((event) => ({ kind, request, event })),
    ),
)

function isForManager(event: RequestEvent): boolean {
  return event.kind === 'decision_required' && event.step === 'manager'
}

function isAsking(event: RequestEvent): boolean {
  return event.kind === 'operation_failed' && event.verdict.kind === 'again' && event.asks
}

/** Reports whether people decide or work by hand in this state. */
const asksPeople = (status: RequestStatus): boolean =>
  status.includes('APPROVAL') || status.startsWith('PENDING_MANUAL')

/** Events that follow from an act on the task of a request, which ends the task. */
const BY_ITS_TASK: readonly EventKind[] = [
  ...(['decision_required', 'approved', 'denied', 'granted_by_hand', 'grant_refused'] as const),
  ...(['grant_retried', 'revoked_by_hand', 'revocation_declined'] as const),
]

describe.each(ALL)('$kind for a request that is $request.status', ({ request, event }) => {
  const made = () => transition(request, event, NOW)

  test('moves only along REQUEST_STATES', () => {
    const path = pathOf(request.status, made())
    const wrong = path
      .slice(1)
      .filter((to, n) => !mayBecome(REQUEST_STATES, path[n] as RequestStatus, to))
    expect(wrong).toEqual([])
  })

  test('records a failure only in states in which requesters read a substitute text', () => {
    for (const { to, note, failure } of made().writes.filter((one) => one.to))
      expect((failureMessage(to as string) === null ? failure : note) ?? null).toBeNull()
  })

  test('sets a wake time for every pending operation', () => {
    const set = Object.assign({}, ...made().writes.map((one) => one.set))
    if (set.pendingOperation) expect(set.wakeAt).toBeInstanceOf(Date)
    if (kindsOf(made()).includes('schedule')) expect(set.pendingOperation).toBeTruthy()
  })

  test('schedules its job last', () => {
    const kinds = kindsOf(made())
    if (kinds.includes('schedule')) expect(kinds.at(-1)).toBe('schedule')
  })

  test('has an open task exactly while it waits for people', () => {
    const to = pathOf(request.status, made()).at(-1) as RequestStatus
    /** The state in which the open task asks people, or null. */
    let open =
      asksPeople(request.status) && !BY_ITS_TASK.includes(event.kind) ? request.status : null
    for (const effect of made().effects) {
      if (effect.kind === 'close_tasks') open = null
      if (effect.kind === 'open_task' && !TASKS[effect.task].outlivesRequest) open = to
    }
    // Access that a request left behind is revoked by hand although the request is over.
    const isLeftover = standingOf(to) === 'over' && event.kind === 'operation_failed' && open === to
    expect(open).toBe(asksPeople(to) || isLeftover ? to : null)
  })
})

test.each(REQUEST_STATUSES)(
  'a request that is %s rejects events that do not apply to it',
  (status) => {
    const others = (Object.keys(EVENTS) as EventKind[]).filter(
      (kind) => !TRANSITIONS[kind].in.includes(status),
    )
    for (const kind of others)
      expect(() => transition(requestIn(status), EVENTS[kind][0] as RequestEvent, NOW)).toThrow(
        `an access request that is ${status} knows no ${kind}`,
      )
  },
)

test('every transition of the table follows from an event', () => {
  const reverting = { notes: { PENDING: null, REVERTING: 'gone' } }
  const more = [
    {
      request: requestIn('PENDING_MANUAL_DEPROVISIONING', reverting),
      event: EVENTS.revoked_by_hand[0],
    },
    {
      request: requestIn('PENDING_MANUAL_DEPROVISIONING', reverting),
      event: EVENTS.revocation_retried[0],
    },
  ]
  const moves = [...ALL, ...more].flatMap(({ request, event }) => {
    const path = pathOf(request.status, transition(request, event as RequestEvent, NOW))
    return path.slice(1).map((to, n) => `${path[n]} ${to}`)
  })
  const named = Object.entries(REQUEST_STATES).flatMap(([from, { next }]) =>
    next.map((to) => `${from} ${to}`),
  )
  expect(named.filter((one) => !moves.includes(one))).toEqual([])
})

describe('the wake time of a request', () => {
  test('is at most a day away, and within the time to decide, while it waits for approval', () => {
    const old = { createdAt: inMs(-29.5 * DAY_MS) }
    const wakeAt = (request: RequestRow) =>
      transition(request, { kind: 'approvers_remain' }, NOW).writes[0]?.set.wakeAt
    expect(wakeAt(requestIn('PENDING_APPROVAL'))).toEqual(inMs(DAY_MS))
    expect(wakeAt(requestIn('PENDING_APPROVAL', old))).toEqual(inMs(DAY_MS / 2))
  })

  test('is its expiry, counted from the moment of the grant', () => {
    const request = requestIn('PENDING_PROVISIONING', { expirationInSeconds: 3600 })
    const [given] = transition(request, { kind: 'granted', manualSteps: null }, NOW).writes
    expect(given).toMatchObject({
      to: 'PROVISIONED',
      set: { expiresAt: inMs(3_600_000), wakeAt: inMs(3_600_000) },
    })
  })
})

describe('the access of a request', () => {
  test.each([
    ['connector', 'remove'],
    ['webhook', 'remove'],
    ['manual', null],
  ] as const)(
    'granted by %s: a cancellation during the grant makes %s the pending operation',
    (fulfilment, pending) => {
      const request = requestIn('PENDING_PROVISIONING', { fulfilment })
      const { writes } = transition(request, { kind: 'cancelled', by: null, reason: null }, NOW)
      expect(writes).toMatchObject([{ to: 'CANCELLED', set: { pendingOperation: pending } }])
    },
  )

  test('is revoked by people if people granted it after a failure', () => {
    const request = requestIn('PENDING_MANUAL_PROVISIONING', { problem: 'no such role' })
    const [given] = transition(request, { kind: 'granted_by_hand', by: who }, NOW).writes
    expect(given?.set).toMatchObject({ fulfilment: 'manual', problem: null })
  })

  test('begins a reason when granted and ends it when revoked', () => {
    const begun = transition(
      requestIn('PENDING_PROVISIONING'),
      { kind: 'granted', manualSteps: null },
      NOW,
    )
    expect(kindsOf(begun)).toContain('begin_reason')
    expect(
      kindsOf(transition(requestIn('REVERTING'), { kind: 'revoked', kept: null }, NOW)),
    ).toContain('end_reason')
    const over = transition(requestIn('CANCELLED'), { kind: 'revoked', kept: null }, NOW)
    expect(kindsOf(over)).not.toContain('end_reason')
  })
})

test('a retried revocation keeps its reason', () => {
  const request = requestIn('PENDING_MANUAL_DEPROVISIONING', {
    notes: { REVERTING: 'The person left' },
  })
  const { writes } = transition(request, { kind: 'revocation_retried' }, NOW)
  expect(writes).toMatchObject([{ to: 'REVERTING', note: 'The person left' }])
})

describe('an ordered revocation', () => {
  const order = { kind: 'revocation_ordered', by: who, reason: 'It was shared' } as const

  test.each(REVOCABLE_STATES)(
    'moves a request that is %s to REVERTING, with the actor and the reason',
    (status) => {
      const { writes, effects } = transition(requestIn(status), order, NOW)
      expect(writes).toEqual([
        {
          to: 'REVERTING',
          note: 'It was shared',
          set: {
            ...{ attempts: 0, failingSince: null, problem: null },
            ...{ pendingOperation: 'remove', wakeAt: NOW, revokedById: 'u' },
          },
        },
      ])
      expect(effects.map(({ kind }) => kind)).toEqual(['record', 'close_tasks', 'schedule'])
      expect(effects[0]).toMatchObject({
        event: 'APP_STORE_REVOKE_ACCESS',
        actor: who,
        metadata: { from: status, reason: 'It was shared' },
      })
    },
  )

  const judged = (status: RequestStatus, more: Partial<RequestRow> = {}) =>
    judgeRevocation(requestIn(status, more), 'Everybody')

  test.each(REQUEST_STATUSES)(
    'is allowed for a request that is %s only if the state machine allows it',
    (status) => {
      const isAllowed = judged(status).kind === 'revoke'
      // These states exist only within a transaction and are judged by what they stand for.
      const passes = ['APPROVED', 'PROVISIONED'].includes(status)
      expect(isAllowed).toBe(passes || TRANSITIONS.revocation_ordered.in.includes(status))
    },
  )

  test.each(REQUEST_STATUSES)(
    'is already done for a request that is %s and was revoked before',
    (status) => {
      expect(judged(status, { revokedById: 'u' })).toEqual({ kind: 'done' })
    },
  )

  const notes = (note: string) => ({ notes: { REVERTING: note } })
  test.each([
    [
      'PENDING_APPROVAL',
      {},
      'nothing has been granted yet. Cancel it: DELETE /appstore/access_requests/r',
    ],
    [
      'COMPLETED',
      { policyId: 'x' },
      'The access policy “Everybody” gives this access and keeps giving it',
    ],
    ['PENDING_DEPROVISIONING', {}, 'already being revoked: its time is up'],
    ['REVERTING', notes('The person left'), 'already being revoked: The person left'],
    ['PENDING_MANUAL_DEPROVISIONING', {}, 'A person was asked to do it by hand'],
    ['TIME_BASED_EXPIRED_FAILED', {}, 'Reject its line in an access review'],
    ['DENIED', {}, 'so there is nothing to revoke'],
  ] as const)('is refused for %s with %j: “%s”', (status, more, words) => {
    expect(judged(status, more)).toMatchObject({
      kind: 'refused',
      words: expect.stringContaining(words),
    })
  })
})
