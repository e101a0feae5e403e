/**
 * The answers of the calls that ended last. A rejection that plugin code leaves unhandled in a call's
 * first turn rejects `run` for the worker, which then asks for the answer by `join`; by then the call may
 * have ended. At the bound, in number or in characters, the oldest go.
 */
import { LIMITS } from './limits.ts'
import { mapDelete, mapGet, mapSet, SafeMap } from './primordials.ts'

/** headJson, responseJson, rawJson. */
export type Answer = [string, string, string]

const kept = new SafeMap<number, Answer>()
// which call was kept as the nth, from `first` to before `next`: those taken since have no answer
const order = new SafeMap<number, number>()
let first = 0
let next = 0
let chars = 0

/** Keeps an answer until it is taken, or until newer ones need the room. */
export function keepAnswer(call: number, answer: Answer): void {
  mapSet(kept, call, answer)
  mapSet(order, next, call)
  next += 1
  chars += sizeOf(answer)
  // the newest stays, whatever its size: it is bounded by itself
  while (next - first > LIMITS.keptAnswers || (chars > LIMITS.keptAnswerChars && next - first > 1))
    dropFirst()
}

/** Takes out the answer of a call, if it is still there. */
export function takeAnswer(call: number): Answer | undefined {
  const answer = mapGet(kept, call)
  if (answer === undefined) return undefined
  mapDelete(kept, call)
  chars -= sizeOf(answer)
  return answer
}

function dropFirst(): void {
  const call = mapGet(order, first)
  mapDelete(order, first)
  first += 1
  if (call !== undefined) takeAnswer(call)
}

function sizeOf(answer: Answer): number {
  return answer[0].length + answer[1].length + answer[2].length
}
