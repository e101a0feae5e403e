/** What people say of an app: the default, and its override. */
import { createHash } from 'node:crypto'
import { type AppInputUpdate, FACT_NAMES } from '../../../contract/models/app.ts'
import { categoryOf } from '../../../contract/models/categories.ts'
import type { AppFacts } from '../../../database/schema/apps.ts'

/** Facts with what a body says put over them: null takes one away, absent leaves it. */
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

/** Names of the facts that differ. */
export const changedFacts = (before: AppFacts, after: AppFacts): string[] =>
  FACT_NAMES.filter((name) => before[name] !== after[name])

/** Longest class id that is made of a name, without its digest. */
const MAX_WORD = 60

/**
 * The class id of a custom app: its name as a word (`acme_crm`). Where the word does not say all of the
 * name, a digest of the name follows: names that differ in more than case never share an id, and one
 * name always has the same.
 */
export function customClassId(name: string): string {
  const lower = name.trim().toLowerCase()
  const whole = lower.replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '')
  const word = [...whole].slice(0, MAX_WORD).join('')
  if (word !== '' && !lower.includes('_') && word === lower.replaceAll(' ', '_')) return word
  const digest = createHash('sha256').update(lower).digest('hex').slice(0, 8)
  return `${word || 'app'}_${digest}`
}
