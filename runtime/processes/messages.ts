/** Messages between the processes of one host, over the channels of node:cluster. */
import * as v from 'valibot'

/** Filter of calls, see `CallsQuery` of the list of calls. */
export const CallsQuery = v.object({
  connector: v.nullable(v.string()),
  app: v.nullable(v.string()),
  cause: v.nullable(v.string()),
  limit: v.number(),
})
export type CallsQuery = v.InferOutput<typeof CallsQuery>

/** Questions that one process sends to all others. */
export const SiblingQuestion = v.variant('about', [
  /** Metrics of a process, as JSON of prom-client's registry. */
  v.object({ about: v.literal('metrics') }),
  /** Latest calls of a process, for operators. */
  v.object({ about: v.literal('calls'), query: CallsQuery }),
  /** Clears suspicion or quarantine of a connector. The answer is whether there was any. */
  v.object({ about: v.literal('release'), connector: v.string() }),
])
export type SiblingQuestion = v.InferOutput<typeof SiblingQuestion>

/** Messages from a serving process to the first one. */
export const FromMember = v.variant('kind', [
  v.object({ kind: v.literal('settled') }),
  v.object({ kind: v.literal('ask'), id: v.number(), question: SiblingQuestion }),
  v.object({ kind: v.literal('answer'), id: v.number(), answer: v.unknown() }),
])
export type FromMember = v.InferOutput<typeof FromMember>

/** Messages from the first process to a serving one. */
export const FromPrimary = v.variant('kind', [
  /** First message: the intended number of processes, and whether none serves yet. */
  v.object({ kind: v.literal('begin'), wanted: v.number(), isFirst: v.boolean() }),
  /** Number of processes that serve now. */
  v.object({ kind: v.literal('serving'), count: v.number() }),
  v.object({ kind: v.literal('ask'), id: v.number(), question: SiblingQuestion }),
  v.object({ kind: v.literal('answers'), id: v.number(), answers: v.array(v.unknown()) }),
])
export type FromPrimary = v.InferOutput<typeof FromPrimary>

/** How long a process waits for another's answer, in milliseconds. The other may be stopped. */
export const ANSWER_MS = 2000
