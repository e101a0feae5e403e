/**
 * The page of symptoms (runtime/docs/operate/troubleshooting.md), entry by entry. A test that produces the
 * symptom of an entry calls `shows`, which reads the expected texts from the page;
 * deploy-troubleshooting.test.ts demands such a test for each entry.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'

/** The text of the page. */
export const PAGE: string = readFileSync(
  path.join(import.meta.dirname, '..', 'runtime/docs/operate/troubleshooting.md'),
  'utf8',
)

export type Symptom = {
  /** What a person sees: the first column. */
  see: string
  /** What Keyway reports then: quoted texts without their variable parts, names of states and members. */
  said: readonly string[]
}

/** Texts in quotation marks, without their variable parts (…). */
export const quotedIn = (text: string): string[] =>
  [...text.matchAll(/“([^”]+)”/g)]
    .flatMap(([, quote = '']) => quote.split('…'))
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Names of states, tasks and members of answers. */
export const namesIn = (text: string): string[] =>
  [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)*|[a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name)

export const SYMPTOMS: readonly Symptom[] = PAGE.split('\n')
  .filter((line) => line.startsWith('| '))
  // The head of the table.
  .slice(1)
  .map((line) => {
    const [, see = '', means = ''] = line.split('|').map((cell) => cell.trim())
    const both = `${see} ${means}`
    return { see, said: [...quotedIn(both), ...namesIn(both)] }
  })

/** Asserts that the answers, log lines or output of Keyway contain every text that an entry quotes. */
export function shows(beginning: string, ...answers: readonly unknown[]): void {
  const [symptom, ...more] = SYMPTOMS.filter(({ see }) => see.startsWith(beginning))
  if (!symptom || more.length > 0)
    throw new Error(`no single entry of the page begins with “${beginning}”`)
  const all = answers.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
  for (const text of symptom.said) expect(all).toContain(text)
}
