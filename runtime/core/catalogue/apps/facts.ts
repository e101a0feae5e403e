/** Descriptive facts of an app: defaults and overrides. */
import { createHash } from 'node:crypto'
import { type AppInputUpdate, FACT_NAMES } from '../../../contract/models/app.ts'
import { categoryOf } from '../../../contract/models/categories.ts'
import type { AppFacts } from '../../../database/schema/apps.ts'

/** Applies a body to facts: null removes a fact, an absent one stays. */
export function withFacts(facts: AppFacts, body: AppInputUpdate): AppFacts {
  const made = { ...facts }
  for (const name of FACT_NAMES) {
    const value = body[name]
    if (value === null) delete made[name]
    else if (value !== undefined)
      made[name] = name === 'category' ? (categoryOf(value) ?? value) : value
  }
  return made
}

/** Returns the names of the facts that differ. */
export const changedFacts = (before: AppFacts, after: AppFacts): string[] =>
  FACT_NAMES.filter((name) => before[name] !== after[name])

/** Maximum length of a class id made from a name, in characters without its digest. */
const MAX_WORD = 60

/**
 * Returns the class id of a custom app: its name as a word (`acme_crm`). If the word does not represent the
 * whole name, a digest of the name follows. Names that differ in more than case never share an id, and a name
 * always has the same one.
 */
export function customClassId(name: string): string {
  const lower = name.trim().toLowerCase()
  const whole = lower.replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '')
  const word = [...whole].slice(0, MAX_WORD).join('')
  if (word !== '' && !lower.includes('_') && word === lower.replaceAll(' ', '_')) return word
  const digest = createHash('sha256').update(lower).digest('hex').slice(0, 8)
  return `${word || 'app'}_${digest}`
}
