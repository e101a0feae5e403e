/**
 * The page of symptoms (runtime/docs/operate/troubleshooting.md), entry by entry. The test that produces what an entry is about
 * says so with `shows`, which takes the texts that Keyway should say from the page; deploy-troubleshooting.test.ts
 * demands such a test for each entry.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'

/** The page as it stands. */
export const PAGE: string = readFileSync(
  path.join(import.meta.dirname, '..', 'runtime/docs/operate/troubleshooting.md'),
  'utf8',
)

export type Symptom = {
  /** What a person sees: the first column. */
  see: string
  /** What Keyway says where this is so: quoted texts without what varies in them, and names of states and members. */
  said: readonly string[]
}

/** Texts in quotation marks, without what varies in them (…). */
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
  // What the columns are called.
  .slice(1)
  .map((line) => {
    const [, see = '', means = ''] = line.split('|').map((cell) => cell.trim())
    const both = `${see} ${means}`
    return { see, said: [...quotedIn(both), ...namesIn(both)] }
  })

/** Asserts that what Keyway said, in answers, in its log or on the terminal, is what an entry of the page quotes. */
export function shows(beginning: string, ...answers: readonly unknown[]): void {
  const [symptom, ...more] = SYMPTOMS.filter(({ see }) => see.startsWith(beginning))
  if (!symptom || more.length > 0)
    throw new Error(`not one entry of the page begins with “${beginning}”`)
  const all = answers.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
  for (const text of symptom.said) expect(all).toContain(text)
}
