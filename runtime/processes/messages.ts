/** What the processes of one host say to each other, over the channels that node:cluster gives them. */
import * as v from 'valibot'

/** Which calls: see `CallsQuery` of the list of calls. */
export const CallsQuery = v.object({
  connector: v.nullable(v.string()),
  app: v.nullable(v.string()),
  cause: v.nullable(v.string()),
  limit: v.number(),
})
export type CallsQuery = v.InferOutput<typeof CallsQuery>

/** What one process asks of all others. */
export const SiblingQuestion = v.variant('about', [
  /** Its metrics, as prom-client's registry gives them as JSON. */
  v.object({ about: v.literal('metrics') }),
  /** Its latest calls, for operators. */
  v.object({ about: v.literal('calls'), query: CallsQuery }),
  /** To end what it holds against a connector: whether there was anything. */
  v.object({ about: v.literal('release'), connector: v.string() }),
])
export type SiblingQuestion = v.InferOutput<typeof SiblingQuestion>

/** From a process that serves to the first one. */
export const FromMember = v.variant('kind', [
  v.object({ kind: v.literal('settled') }),
  v.object({ kind: v.literal('ask'), id: v.number(), question: SiblingQuestion }),
  v.object({ kind: v.literal('answer'), id: v.number(), answer: v.unknown() }),
])
export type FromMember = v.InferOutput<typeof FromMember>

/** From the first process to one that serves. */
export const FromPrimary = v.variant('kind', [
  /** Once, as the first: how many processes there are to be, and whether nobody serves yet. */
  v.object({ kind: v.literal('begin'), wanted: v.number(), isFirst: v.boolean() }),
  /** How many serve now. */
  v.object({ kind: v.literal('serving'), count: v.number() }),
  v.object({ kind: v.literal('ask'), id: v.number(), question: SiblingQuestion }),
  v.object({ kind: v.literal('answers'), id: v.number(), answers: v.array(v.unknown()) }),
])
export type FromPrimary = v.InferOutput<typeof FromPrimary>

/** How long a process is waited for that does not answer another, in milliseconds: it may be stopped. */
export const ANSWER_MS = 2000
