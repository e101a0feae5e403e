/** The other processes that serve the same port, as one of them sees them. */
import type { CallsQuery, SiblingQuestion } from './messages.ts'

/** What a process answers the others; what it throws is an answer that is missing. */
export type Answers = (question: SiblingQuestion) => unknown

export type Siblings = {
  /** How many processes are to serve, this one included. */
  readonly wanted: number
  /** How many do. */
  serving(): number
  /** Asks all others; those that do not answer in time are left out. */
  ask(question: SiblingQuestion): Promise<unknown[]>
  /** Says what the others are answered. */
  answer(answers: Answers): void
}

/** Answers each question with what this process has of it. */
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

/** Of a process that serves alone. */
export const ALONE: Siblings = {
  wanted: 1,
  serving: () => 1,
  ask: () => Promise.resolve([]),
  answer: () => {},
}
