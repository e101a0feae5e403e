/** Records the calls of a host for cases, limited in calls, hops and bytes. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ErrorCode } from '../../contract/errors/error-codes.ts'
import { ERRORS, RuntimeError } from '../../contract/errors/errors.ts'
import type { OnHop, SeenHop } from '../../egress/hop/observed-hops.ts'
import type { InvokeDeps } from '../../invoke/ports.ts'

/** Maximum recorded bytes of answers, and maximum number of requests, per call. */
const MAX_CALL_BYTES = 4 * 1024 * 1024
const MAX_HOPS = 200

/** Maximum number of pages of one sequence that become one case. */
const MAX_PAGES = 10

/** Maximum number of sequences that wait for their next page. The oldest is dropped. */
const MAX_SEQUENCES = 20

/** Call as it was made: one page of a sequence. */
type RecordedCall = { hops: SeenHop[]; ok: boolean }

/** Called capability, and all its pages so far. */
export type Recording = {
  capability: string
  pageSize: number | null
  raw: boolean
  calls: RecordedCall[]
}

export type Recorder = {
  /** Returns a function that runs calls like the given one and records their exchanges. */
  run(run: InvokeDeps['run']): InvokeDeps['run']
  onHop: OnHop
}

/** Exchanges of a call. `wrong` is the code of a refused request, if the connector is to blame. */
type Taking = { hops: SeenHop[]; wrong: ErrorCode | null }

/**
 * Makes a recorder.
 *
 * @param onRecording Called for each call that ended in an answer or in an error of its connector, with the
 * previous pages.
 * @param onNothing Called with the reason why a call cannot become a case.
 */
export function createRecorder(
  onRecording: (recording: Recording) => void,
  onNothing: (capability: string, why: string) => void,
): Recorder {
  const current = new AsyncLocalStorage<Taking>()
  const sequences = new Map<string, Recording>()

  function take(capability: string, callJson: string, raw: boolean, call: RecordedCall) {
    const { page }: { page: { cursor: unknown; size: number | null } } = JSON.parse(callJson)
    const cursor = JSON.stringify(page.cursor)
    if (page.cursor === null) return { capability, pageSize: page.size, raw, calls: [call] }
    const before = sequences.get(`${capability} ${cursor}`)
    return before && { ...before, calls: [...before.calls, call] }
  }

  return {
    onHop: (hop) => void current.getStore()?.hops.push(hop),
    run: (run) => async (lane, call) => {
      const { capability, callJson, raw } = call
      const taking: Taking = { hops: [], wrong: null }
      const fetch = (request: Parameters<typeof call.fetch>[0]) =>
        current
          .run(taking, () => call.fetch(request))
          .catch((error: unknown) => {
            if (error instanceof RuntimeError && ERRORS[error.code].blame === 'connector')
              taking.wrong ??= ERRORS[error.code].wire
            throw error
          })
      const ended = await run(lane, { ...call, fetch }).catch((error: unknown) => {
        onNothing(capability, 'the call did not end')
        throw error
      })
      const why = unfit(taking)
      if (why !== null) {
        onNothing(capability, why)
        return ended
      }
      const { reply } = ended
      const recording = take(capability, callJson, raw, { hops: taking.hops, ok: reply.ok })
      if (recording === undefined) {
        onNothing(capability, 'the previous page was not recorded; start again without a token')
        return ended
      }
      if (reply.ok && reply.cursorJson !== 'null' && recording.calls.length < MAX_PAGES) {
        sequences.set(`${capability} ${reply.cursorJson}`, recording)
        for (const [oldest] of sequences) {
          if (sequences.size <= MAX_SEQUENCES) break
          sequences.delete(oldest)
        }
      }
      onRecording(recording)
      return ended
    },
  }
}

/** Returns the reason why the exchanges of a call make no case, or null. */
function unfit({ hops, wrong }: Taking): string | null {
  if (wrong !== null)
    return `the connector has a defect, ${wrong}: one of its requests was refused; its answer has the reason`
  if (hops.length === 0) return 'it sent no requests to its system; write this case by hand'
  if (hops.length > MAX_HOPS) return `it made more than ${MAX_HOPS} requests`
  if (hops.some(({ reply }) => reply === null)) return 'its system did not answer'
  const bytes = hops.reduce((sum, { reply }) => sum + (reply?.body.length ?? 0), 0)
  return bytes > MAX_CALL_BYTES
    ? `its system answered with ${bytes} bytes, more than ${MAX_CALL_BYTES}; request smaller pages`
    : null
}
