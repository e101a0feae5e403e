/** The other processes that serve the same port, as one of them sees them. */
import type { Question } from './messages.ts'

/** What a process answers the others; what it throws is an answer that is missing. */
export type Answers = (question: Question) => unknown

export type Siblings = {
  /** How many processes are to serve, this one included. */
  readonly wanted: number
  /** How many do. */
  serving(): number
  /** Asks all others; those that do not answer in time are left out. */
  ask(question: Question): Promise<unknown[]>
  /** Says what the others are answered. */
  answer(answers: Answers): void
}

/** Of a process that serves alone. */
export const ALONE: Siblings = {
  wanted: 1,
  serving: () => 1,
  ask: () => Promise.resolve([]),
  answer: () => {},
}
