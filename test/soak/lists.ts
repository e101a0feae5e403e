/** Requests many lists of a hundred accounts, one after the other per caller: no isolate may die. */
import { LANES_LIMITS } from '../../runtime/lanes/lanes.ts'
import { openSoakScene } from './scene.ts'
import { usageOf } from './usage.ts'

export type ListsReport = {
  calls: number
  tookMs: number
  /** Number of isolates that answered. */
  isolates: number
  /** Growth of host and worker since the first calls, in bytes. */
  grownBytes: number
  findings: string[]
}

const MAX_GROWN_BYTES = 100 * 1024 * 1024
/** Calls before the first measurement. */
const FIRST = 1000
const DEADLINE_MS = 30_000

export async function lists(options: {
  calls: number
  callers: number
  onProgress?(done: number): void
}): Promise<ListsReport> {
  const { calls, callers, onProgress } = options
  const scene = await openSoakScene(['listing'], [])
  const isolates = new Set<string>()
  const wrong = new Set<string>()
  let expected: string | null = null
  let done = 0

  async function ask(): Promise<void> {
    const { code, text, body, lateMs } = await scene.client.call({
      at: '/connectors/listing/list_accounts',
      body: { auth: { token: { token: 'token-of-listing' } }, request: {} },
      deadlineMs: DEADLINE_MS,
    })
    done += 1
    onProgress?.(done)
    if (code !== null) return void wrong.add(`${code}: ${body.error?.message}`)
    if (lateMs > 0) wrong.add('an answer came after its deadline')
    const accounts = body.response as { integration_specific_id: string }[]
    const isolate = accounts.at(-1)?.integration_specific_id ?? ''
    isolates.add(isolate)
    const answer = text.replace(isolate, '')
    expected ??= answer
    if (accounts.length !== 100 || answer !== expected) wrong.add(`another answer: ${text}`)
  }

  const askUntil = async (count: number): Promise<void> => {
    const caller = async () => {
      while (begun < count) {
        begun += 1
        await ask()
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
  }
  let begun = 0

  try {
    await askUntil(Math.min(FIRST, calls))
    const before = await usageOf(scene.host)
    const beganMs = performance.now()
    await askUntil(calls)
    const tookMs = performance.now() - beganMs
    const after = await usageOf(scene.host)
    const { workers } = await scene.host.state()
    const grownBytes =
      after.residentBytes + after.workerBytes - before.residentBytes - before.workerBytes
    // An isolate is replaced after maxCalls calls, which is not a death.
    const most = 1 + Math.floor(calls / LANES_LIMITS.maxCalls)
    const findings = [
      ...wrong,
      ...(isolates.size > most ? [`${isolates.size} isolates have answered`] : []),
      ...workers.filter(({ deaths }) => deaths > 0).map(({ lane }) => `a worker of ${lane} died`),
      ...(grownBytes > MAX_GROWN_BYTES ? ['host and worker grew by more than 100 MiB'] : []),
    ]
    return { calls, tookMs, isolates: isolates.size, grownBytes, findings }
  } finally {
    await scene.close()
  }
}
