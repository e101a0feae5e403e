/** Translated refusals of the core: each row is a message that is thrown somewhere. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { REFUSALS_SAID, refusalIn } from '../../runtime/words/refusals.ts'

const RUNTIME = path.join(import.meta.dirname, '..', '..', 'runtime')

/** All string literals of the sources, with inserted values as `{}`. */
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
  // `notFound` appends the rest.
  (words.endsWith(' not found') && TEXTS.has(words.slice(0, -' not found'.length)))

describe('a translated refusal', () => {
  test('is thrown somewhere', () => {
    const stale = Object.keys(REFUSALS_SAID.de).filter((words) => !isThrown(words))
    expect(stale).toEqual([])
  })

  test('differs from the English text, and does not end with a full stop', () => {
    for (const [english, de] of Object.entries(REFUSALS_SAID.de)) {
      expect(de).not.toBe(english)
      expect(de, english).not.toMatch(/\.$|Konnektor|Genehmiger/)
      // A translation may omit inserted values, but may not add any.
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
    [
      'This person cannot be erased yet: the user is ACTIVE: offboard the person first; the person still has accounts in A; B: delete them in these systems and sync the apps; a sync would bring the person back',
      'Diese Person lässt sich noch nicht löschen: sie ist ACTIVE: führen Sie zuerst den Austritt der Person aus; die Person hat noch Konten in A; B: löschen Sie sie dort und gleichen Sie die Anwendungen ab; sonst bringt ein Abgleich die Person zurück',
    ],
    ['This person cannot be erased yet: nobody translated this', null],
    [
      'A file is required as evidence of the removal: attach one with POST /access_reviews/7/evidence/uploads and "item_ids":["9"]',
      'Das Entziehen braucht eine Datei als Nachweis: fügen Sie der Zeile zuerst eine Datei an',
    ],
    ['This user is $& <b>', 'Diese Person ist $& <b>'],
    ['toString', null],
    ['Something that nobody translated', null],
  ])('of “%s” is found, or null if there is none', (english, german) => {
    expect(refusalIn('de', english)).toBe(german)
    expect(refusalIn('en', english)).toBe(english)
  })
})
