/** The state machines of offboardings and of their accounts, without a database. */
import { describe, expect, test } from 'vitest'
import { stepTransition } from '../../../runtime/core/offboarding/machine/steps.ts'
import { offboardingTransition } from '../../../runtime/core/offboarding/machine/transitions.ts'
import type { OffboardingRow, StepRow } from '../../../runtime/database/schema/offboarding.ts'

const NOW = new Date('2030-01-01T00:00:00Z')

const LEAVING: OffboardingRow = {
  ...{ id: 'o', domainId: 'd', userId: 'u', status: 'IN_PROGRESS', scheduledAt: null },
  ...{ cancelledAt: null, completedAt: null, wakeAt: NOW, problem: null },
  ...{ createdAt: NOW, updatedAt: NOW },
}

const STEP: StepRow = {
  ...{ id: 's', domainId: 'd', offboardingId: 'o', appId: 'a', account: 'ann', state: 'todo' },
  ...{
    taskId: null,
    attempts: 2,
    wakeAt: NOW,
    problem: null,
    readings: [],
    createdAt: NOW,
    updatedAt: NOW,
  },
}

describe('an offboarding', () => {
  test('that completes has no wake time, and is logged', () => {
    const { writes, effects } = offboardingTransition(LEAVING, { kind: 'completed', left: 1 }, NOW)
    expect(writes).toEqual([{ status: 'COMPLETED', completedAt: NOW, wakeAt: null }])
    expect(effects).toMatchObject([
      {
        ...{ kind: 'record', event: 'USER_OFFBOARDING_COMPLETED' },
        metadata: { user_id: 'u', accounts_left: 1 },
      },
    ])
  })

  test('that fails records the problem in its row and in the log, and reports it to the admins', () => {
    const problem = 'Ann is the last Admin'
    const { writes, effects } = offboardingTransition(LEAVING, { kind: 'failed', problem }, NOW)
    expect(writes).toEqual([{ status: 'FAILED', wakeAt: null, problem }])
    expect(effects).toMatchObject([
      { kind: 'record', outcome: 'Failed', metadata: { user_id: 'u', problem } },
      { kind: 'report_error', trouble: { taskType: 'OFFBOARDING_ERROR', targetUserId: 'u' } },
    ])
  })
})

describe('a step that failed', () => {
  const again = { kind: 'again', attempts: 3, failingSince: NOW, wakeAt: NOW } as const
  const failed = (tell: boolean, isAsked = false) =>
    ({ kind: 'failed', verdict: { ...again, tell }, problem: 'down', isAsked }) as const

  test('is retried, and people are asked once', () => {
    expect(stepTransition(STEP, failed(false), NOW).effects).toEqual([])
    expect(stepTransition(STEP, failed(true), NOW)).toMatchObject({
      writes: [{ state: 'told', attempts: 3, problem: 'down' }],
      effects: [{ kind: 'open_task', goesOn: true }],
    })
    const asked = { ...STEP, state: 'told', taskId: 't' } as const
    expect(stepTransition(asked, failed(true, true), NOW).effects).toEqual([])
  })

  test('is handed to people when a retry cannot help, with a new task in place of the first', () => {
    const verdict = { kind: 'manual', problem: 'cannot' } as const
    const asked = { ...STEP, state: 'told', taskId: 't' } as const
    const event = { kind: 'failed', verdict, problem: 'cannot', isAsked: true } as const
    expect(stepTransition(asked, event, NOW)).toEqual({
      writes: [{ state: 'manual', attempts: 3, problem: 'cannot' }],
      effects: [
        { kind: 'close_task', taskId: 't' },
        { kind: 'open_task', problem: 'cannot', goesOn: false },
      ],
    })
  })

  test('is left and logged if a person declines it, and done if a person confirms what cannot be read', () => {
    const asked = { ...STEP, state: 'manual', taskId: 't' } as const
    expect(stepTransition(asked, { kind: 'declined', userId: 'u', by: 'b' }, NOW)).toMatchObject({
      writes: [{ state: 'left' }],
      effects: [
        {
          ...{ kind: 'record', event: 'USER_OFFBOARDING_ACCOUNT_LEFT', actor: { userId: 'b' } },
          ...{ targets: [{ id: 'o' }], metadata: { user_id: 'u', step_id: 's', app_id: 'a' } },
        },
      ],
    })
    const unread = 'the app has no connector'
    expect(stepTransition(asked, { kind: 'confirmed', unread }, NOW)).toEqual({
      writes: [{ state: 'done', problem: `done by hand, according to a person: ${unread}` }],
      effects: [],
    })
  })

  test('is retried at once when its task is retried', () => {
    const asked = { ...STEP, state: 'manual', taskId: 't' } as const
    expect(stepTransition(asked, { kind: 'retried' }, NOW)).toEqual({
      writes: [{ state: 'todo', attempts: 0, wakeAt: NOW, taskId: null }],
      effects: [],
    })
  })
})
