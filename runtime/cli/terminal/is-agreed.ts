/** A question before something is done that cannot be taken back. */
import { createInterface } from 'node:readline/promises'

/** Whether a person sits at both ends. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stdout.isTTY

/** Whether the user says yes; false where nobody can be asked. */
export async function isAgreed(question: string): Promise<boolean> {
  if (!canAsk()) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}
