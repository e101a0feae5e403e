/** Asks for confirmation of an action that cannot be undone. */
import { createInterface } from 'node:readline/promises'

/** Reports whether standard input and output are terminals. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stdout.isTTY

/** Reports whether the user confirms. False if there is no terminal. */
export async function isAgreed(question: string): Promise<boolean> {
  if (!canAsk()) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}
