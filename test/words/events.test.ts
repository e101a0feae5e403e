/** What the log records of access reviews has a German name: without one the console shows its code. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { CONSOLE_EVENTS } from '../../runtime/words/console-events.ts'

const FOLDER = path.join(import.meta.dirname, '..', '..', 'runtime', 'core', 'reviews')

/** The events that `noteReview` and `recorded` name in the sources. */
const events = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => {
    const text = readFileSync(path.join(FOLDER, file), 'utf8')
    return [...text.matchAll(/\b(?:noteReview|recorded)\([^;']{0,120}'([A-Z_]{5,})'/g)]
  })
  .map(([, name]) => `ACCESS_REVIEW_${name}`)

test('every event of an access review has a German name', () => {
  expect(events).toEqual(
    expect.arrayContaining(['ACCESS_REVIEW_DECIDED', 'ACCESS_REVIEW_ITEM_REMOVED']),
  )
  const bare = events.filter((type) => CONSOLE_EVENTS.event_named.de(type, '') === type)
  expect(bare).toEqual([])
})
