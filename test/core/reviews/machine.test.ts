/** The state machines of access reviews, of their apps and of their lines, without a database. */
import { describe, expect, test } from 'vitest'
import type { TaskProgress } from '../../../runtime/contract/models/task.ts'
import { type LineEvent, lineTransition } from '../../../runtime/core/reviews/machine/line.ts'
import { reviewTransition } from '../../../runtime/core/reviews/machine/review.ts'
import { reviewAppTransition } from '../../../runtime/core/reviews/machine/review-app.ts'
import type { ItemRow, ReviewAppRow, ReviewRow } from '../../../runtime/database/schema/reviews.ts'

const NOW = new Date('2030-01-01T00:00:00Z')
const LATER = new Date('2030-01-02T00:00:00Z')

const REVIEW = {
  ...{ id: 'v', domainId: 'd', name: 'Spring', status: 'SCHEDULED', startedAt: null },
  ...{ closedAt: null, secondReviewers: null },
} as ReviewRow

const APP = { id: 'a', appId: 'app', domainId: 'd', status: 'IN_PROGRESS', population: null }
const app = (values: Partial<ReviewAppRow> = {}) => ({ ...APP, ...values }) as ReviewAppRow

const LINE = { id: 'i', appId: 'app', state: 'REMOVING', attempts: 2, failingSince: null }
const line = { ...LINE, taskId: null } as ItemRow
const afterLine = (event: LineEvent) => lineTransition(line, event, REVIEW, NOW)

describe('a review at its launch date', () => {
  test('waits for its apps', () => {
    expect(reviewTransition(REVIEW, { kind: 'launch_came', apps: 2, wakeAt: LATER }, NOW)).toEqual({
      writes: [{ status: 'SCHEDULED_IN_PREPARATION', wakeAt: LATER }],
      effects: [],
    })
  })

  test('is in progress at once without apps', () => {
    expect(reviewTransition(REVIEW, { kind: 'launch_came', apps: 0, wakeAt: LATER }, NOW)).toEqual({
      writes: [{ status: 'IN_PROGRESS', startedAt: NOW, wakeAt: LATER }],
      effects: [],
    })
  })

  test('is started only by its first app', () => {
    const started = { ...REVIEW, status: 'IN_PROGRESS' } as const
    expect(reviewTransition(started, { kind: 'started' }, NOW).writes).toEqual([])
  })
})

test('a review that ends keeps the time at which its decisions closed', () => {
  const closed = { ...REVIEW, status: 'IN_PROGRESS', closedAt: NOW } as const
  const { writes, effects } = reviewTransition(closed, { kind: 'apps_completed', apps: 3 }, LATER)
  expect(writes).toEqual([{ status: 'COMPLETED', completedAt: LATER, closedAt: NOW, wakeAt: null }])
  expect(effects).toMatchObject([
    { kind: 'record', event: 'ACCESS_REVIEW_COMPLETED', metadata: { apps: 3 } },
  ])
})

test.each([
  ['a line is being removed', 1, 1, { status: 'IN_PROGRESS', completedAt: null }],
  ['the remaining lines need manual work', 0, 1, { wakeAt: LATER }],
  ['no line is left', 0, 0, { status: 'COMPLETED', completedAt: NOW }],
] as const)(
  'an app that waits for manual work is updated when %s',
  (_, removing, waiting, written) => {
    const event = { kind: 'counted', removing, waiting, wakeAt: LATER } as const
    const { writes } = reviewAppTransition(app({ status: 'WAITING_FOR_MANUAL_ACTION' }), event, NOW)
    expect(writes).toEqual([{ wakeAt: LATER, ...written }])
  },
)

test('the start of the removal in an app is logged with the number of lines', () => {
  const by = { domainId: 'd', userId: 'u' }
  const event = { kind: 'removal_started', by, review: REVIEW, rejected: 4, notDecided: 1 } as const
  expect(reviewAppTransition(app(), event, NOW)).toMatchObject({
    writes: [{ removalAt: NOW, wakeAt: NOW }],
    effects: [{ kind: 'record', actor: by, metadata: { rejected: 4, not_decided: 1 } }],
  })
})

describe('a line', () => {
  test('that a reading no longer shows becomes REMOVED, and its task is closed', () => {
    expect(afterLine({ kind: 'gone', reading: null })).toMatchObject({
      writes: [{ state: 'REMOVED', problem: null, goneAt: NOW }],
      effects: [{ kind: 'close_task' }, { event: 'ACCESS_REVIEW_ITEM_REMOVED' }],
    })
  })

  test('whose removal cannot be confirmed by a reading waits for the next sync', () => {
    expect(afterLine({ kind: 'unproven', problem: 'not read' })).toEqual({
      writes: [{ sentAt: NOW, wakeAt: null, problem: 'not read' }],
      effects: [{ kind: 'sync_again' }],
    })
  })

  test('that the system requires becomes TO_MODIFY with the problem', () => {
    expect(afterLine({ kind: 'needed', problem: 'give another first' }).writes).toEqual([
      { state: 'TO_MODIFY', problem: 'give another first', wakeAt: null },
    ])
  })

  test.each([
    ['manual work', true, 'WAITING_FOR_HANDS'],
    ['background work', false, 'REMOVING'],
  ] as const)('that is held by a request waits for %s', (_, byPeople, state) => {
    expect(afterLine({ kind: 'held', byPeople, wakeAt: LATER }).writes).toEqual([
      { state, wakeAt: LATER },
    ])
  })

  test('that a person declined to remove becomes EXCEPTED, and this is logged', () => {
    expect(afterLine({ kind: 'declined', problem: 'declined' })).toMatchObject({
      writes: [{ state: 'EXCEPTED', problem: 'declined' }],
      effects: [{ event: 'ACCESS_REVIEW_ITEM_EXCEPTED' }],
    })
  })
})

describe('a line that could not be removed', () => {
  const away = { ok: false, fault: 'refused', problem: 'down' } as const
  const manual = { ok: false, fault: 'manual', problem: 'no way' } as const
  const failed = (failure: typeof away | typeof manual, task: TaskProgress, isConnected = true) =>
    afterLine({ kind: 'failed', failure, task, isConnected })

  test('is handed to people when a retry cannot help', () => {
    expect(failed(manual, 'none')).toEqual({
      writes: [{ state: 'WAITING_FOR_HANDS', problem: 'no way', wakeAt: null }],
      effects: [{ kind: 'open_task', problem: 'no way', goesOn: false }],
    })
  })

  test('waits for a sync after a person reported it as done', () => {
    expect(failed(manual, 'done')).toMatchObject({
      writes: [{ sentAt: NOW, taskId: null }],
      effects: [{ kind: 'sync_again' }],
    })
  })

  test('becomes EXCEPTED after a person reported it as done, if no sync can confirm it', () => {
    expect(failed(manual, 'done', false)).toMatchObject({ writes: [{ state: 'EXCEPTED' }] })
  })

  test('is retried, and people are asked once', () => {
    const { writes, effects } = failed(away, 'none')
    expect(writes).toMatchObject([{ state: 'WAITING_FOR_HANDS', attempts: 3, problem: 'down' }])
    expect(effects).toEqual([{ kind: 'open_task', problem: 'down', goesOn: true }])
    expect(failed(away, 'asked')).toMatchObject({ writes: [{ attempts: 3 }], effects: [] })
  })
})
