/**
 * A hundred thousand large answers: whether a healthy isolate survives them, and how much memory they leave.
 */
import { type Contender, startField } from '../contenders/contenders.ts'
import { atMost, judge, nothing } from '../findings.ts'
import { closedLoad } from '../load/loads.ts'
import { type Memory, memoryOf } from '../processes.ts'
import type { Part } from '../run.ts'
import type { Server } from '../server.ts'
import { LIST, targetOf } from '../workloads.ts'

const CALLERS = 32
/** Multiple of the number of calls of other measurements. */
const TIMES = 5
/** Warm-up calls before the first memory sample, so that the worker and its connections exist. */
const WARM_CALLS = 1000

export const MANY_CALLS: Part = {
  title: 'Many calls',
  length: ({ calls }) => `${TIMES * calls} calls by ${CALLERS} callers, once`,
  async measure(run) {
    const { signal, calls, tell } = run
    const field = await startField(run, ['Keyway'])
    try {
      const [keyway] = field.contenders as [Contender]
      const load = { url: keyway.url, targets: [targetOf(LIST)], callers: CALLERS }
      await closedLoad({ ...load, calls: WARM_CALLS }, signal)
      const before = memoryOf(keyway)
      tell(`${TIMES * calls} calls`)
      const { failed } = await closedLoad({ ...load, calls: TIMES * calls }, signal)
      const after = memoryOf(keyway)
      const deaths = await workerDeaths(keyway)
      const once = (value: number) => ({ median: value, min: value, max: value })
      return {
        judged: [
          judge(
            'calls that failed: an isolate that dies takes its calls along',
            once(failed),
            nothing,
            0,
          ),
          judge('worker processes that died', once(deaths), nothing, 0),
          judge(
            'growth of host and worker together',
            once(sum(after) - sum(before)),
            atMost(100, 'MB'),
            0,
            'MB',
          ),
        ],
        tables: [
          {
            title: 'Resident memory in MB',
            columns: ['', 'before', 'after'],
            rows: [
              ['host', before.hostMb.toFixed(0), after.hostMb.toFixed(0)],
              ['worker', before.workersMb.toFixed(0), after.workersMb.toFixed(0)],
            ],
          },
        ],
        notes: [],
      }
    } finally {
      await field.stop()
    }
  },
}

const sum = ({ hostMb, workersMb }: Memory): number => hostMb + workersMb

/** Workers that ended, except those that the host stopped. */
async function workerDeaths({ url }: Server): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const ends = text.matchAll(/^keyway_worker_ends_total\{reason="(\w+)"\} (\d+)$/gm)
  return [...ends].reduce((count, [, why, n]) => (why === 'stopped' ? count : count + Number(n)), 0)
}
