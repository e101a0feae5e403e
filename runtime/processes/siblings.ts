/** The other processes that serve the same port, as seen from one of them. */
import type { CallsQuery, SiblingQuestion } from './messages.ts'

/** Answers a question of another process. If it throws, the answer is omitted. */
export type Answers = (question: SiblingQuestion) => unknown

export type Siblings = {
  /** Intended number of processes, this one included. */
  readonly wanted: number
  /** Number of processes that serve now, this one included. */
  serving(): number
  /** Asks all other processes. Those that do not answer in time are left out. */
  ask(question: SiblingQuestion): Promise<unknown[]>
  /** Sets the function that answers the others. */
  answer(answers: Answers): void
}

/** Returns a function that answers each question from this process's own data. */
export const answersOf =
  (
    metrics: { json(): unknown },
    calls: { list(query: CallsQuery): unknown },
    standings: { releaseHere(connector: string): unknown },
  ): Answers =>
  (question) => {
    if (question.about === 'metrics') return metrics.json()
    if (question.about === 'calls') return calls.list(question.query)
    return standings.releaseHere(question.connector)
  }

/** Siblings of a process that serves alone. */
export const ALONE: Siblings = {
  wanted: 1,
  serving: () => 1,
  ask: () => Promise.resolve([]),
  answer: () => {},
}
