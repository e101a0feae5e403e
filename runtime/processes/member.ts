/** A process that serves together with others, started by the first process (primary.ts). */
import * as v from 'valibot'
import { ANSWER_MS, type FromMember, FromPrimary } from './messages.ts'
import type { Answers, Siblings } from './siblings.ts'

type Member = {
  siblings: Siblings
  /** Whether no process serves yet. Then this one listens before it has looked up its connectors. */
  isFirst: boolean
  /** Reports that all connectors are looked up, so that the other processes find the compiled ones. */
  settled(): void
}

/** Channel to the first process: `process` itself, if node:cluster created it. */
type Channel = Pick<NodeJS.Process, 'on' | 'send' | 'connected'>

/** Resolves when the first process has sent the number of processes. */
export function joinOthers(channel: Channel = process): Promise<Member> {
  const begun = Promise.withResolvers<Member>()
  const asked = new Map<number, (answers: unknown[]) => void>()
  let nextId = 1
  let serving = 0
  let answers: Answers | null = null

  const say = (message: FromMember) => {
    // If the first process has ended, this one will end as well.
    if (channel.connected) channel.send?.(message)
  }

  function ask(question: Parameters<Siblings['ask']>[0]): Promise<unknown[]> {
    const id = nextId++
    return new Promise((resolve) => {
      // Twice as long as the first process waits for the others.
      const timer = setTimeout(() => done([]), 2 * ANSWER_MS)
      const done = (all: unknown[]) => {
        clearTimeout(timer)
        asked.delete(id)
        resolve(all)
      }
      asked.set(id, done)
      say({ kind: 'ask', id, question })
    })
  }

  channel.on('message', (message: unknown) => {
    const parsed = v.safeParse(FromPrimary, message)
    // A message of node:cluster itself.
    if (!parsed.success) return
    const { output } = parsed
    if (output.kind === 'serving') serving = output.count
    if (output.kind === 'answers') asked.get(output.id)?.(output.answers)
    if (output.kind === 'ask' && answers !== null) {
      const { id, question } = output
      Promise.resolve(question)
        .then(answers)
        .then(
          (answer) => say({ kind: 'answer', id, answer }),
          // A failed answer is omitted, as is one that does not arrive.
          () => {},
        )
    }
    if (output.kind === 'begin') {
      const { wanted, isFirst } = output
      const siblings: Siblings = {
        wanted,
        serving: () => serving,
        ask,
        answer(given) {
          answers = given
        },
      }
      begun.resolve({ siblings, isFirst, settled: () => say({ kind: 'settled' }) })
    }
  })
  return begun.promise
}
