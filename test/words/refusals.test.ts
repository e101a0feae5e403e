/** Refusals of the core in other languages: each row is of words that are thrown somewhere, and says the same. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { REFUSALS_SAID, refusalIn } from '../../runtime/words/refusals.ts'

const RUNTIME = path.join(import.meta.dirname, '..', '..', 'runtime')

/** All texts of the sources, with what is put into them as `{}`. */
const TEXTS = new Set(
  ['connectors', 'contract', 'core', 'egress', 'http']
    .flatMap((folder) =>
      readdirSync(path.join(RUNTIME, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(path.join(RUNTIME, folder, file), 'utf8')),
    )
    .flatMap((source) => [
      ...[...source.matchAll(/'((?:[^'\\\n]|\\.)*)'/g)].map(([, text = '']) => text),
      ...[...source.matchAll(/`((?:\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`])*)`/g)].map(
        ([, text = '']) => text.replace(/\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}/g, '{}'),
      ),
    ])
    .flatMap((text) => [text, text.replace(/^Value error, /, '')]),
)

const isThrown = (words: string): boolean =>
  TEXTS.has(words) ||
  // Of `notFound`, which says the rest.
  (words.endsWith(' not found') && TEXTS.has(words.slice(0, -' not found'.length)))

describe('a refusal that is said in another language', () => {
  test('is one that is thrown', () => {
    const stale = Object.keys(REFUSALS_SAID.de).filter((words) => !isThrown(words))
    expect(stale).toEqual([])
  })

  test('says something else than in English, in one sentence without its end', () => {
    for (const [english, de] of Object.entries(REFUSALS_SAID.de)) {
      expect(de).not.toBe(english)
      expect(de, english).not.toMatch(/\.$|Konnektor|Genehmiger/)
      // What is put in may be left out, and is never made up.
      expect(de.split('{}').length).toBeLessThanOrEqual(english.split('{}').length)
    }
  })

  test.each([
    ['The task is already COMPLETED', 'Die Aufgabe ist schon COMPLETED'],
    [
      'These are 120 lines; more than 50 at once need a reason',
      'Das sind 120 Zeilen; mehr als 50 auf einmal brauchen eine Begründung',
    ],
    ['at most 366 days', 'höchstens 366 Tage'],
    ['Task not found', 'Diese Aufgabe gibt es nicht, oder sie ist nicht für Sie'],
    ['This user is $& <b>', 'Diese Person ist $& <b>'],
    ['toString', null],
    ['Something that nobody translated', null],
  ])('%s', (english, german) => {
    expect(refusalIn('de', english)).toBe(german)
    expect(refusalIn('en', english)).toBe(english)
  })
})
