import { expect, test } from 'vitest'
import type { Run } from '../run.ts'
import { compareAnswers, WORKLOADS } from '../workloads.ts'
import { startField } from './contenders.ts'

const run: Run = {
  rounds: 1,
  seconds: 1,
  calls: 1,
  sizes: [],
  home: '',
  signal: new AbortController().signal,
  tell: () => undefined,
}

test('B and BS answer every workload with the same bytes, and refuse an invalid request', async () => {
  const field = await startField(run, ['B', 'BS'])
  try {
    for (const workload of WORKLOADS) await compareAnswers(field.contenders, workload)
    const wrong = { name: 'wrong', capability: 'assign_entitlement', body: { request: {} } }
    await compareAnswers([...field.contenders, { name: 'refusal', url: REFUSAL }], wrong)
  } finally {
    await field.stop()
  }
})

test('a different answer is reported with the name of its server', async () => {
  const servers = [
    { name: 'one', url: 'data:application/json,1#' },
    { name: 'other', url: 'data:application/json,2#' },
  ]
  const [workload] = WORKLOADS
  await expect(compareAnswers(servers, workload as never)).rejects.toThrow(
    'other answers list of 100 accounts differently from one: 2',
  )
})

/** A server that always sends this answer. */
const REFUSAL = 'data:application/json,{"is_error":true}#'
