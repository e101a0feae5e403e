/** Every event of the log has a German name: without one, the console shows its code. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { CONSOLE_EVENTS } from '../../runtime/words/console-events.ts'

const RUNTIME = path.join(import.meta.dirname, '..', '..', 'runtime')

/** The first group of each match of a pattern in the sources below a folder. */
const found = (folder: string, pattern: RegExp): string[] =>
  readdirSync(path.join(RUNTIME, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(path.join(RUNTIME, folder, file), 'utf8').matchAll(pattern),
    ])
    .map(([, name = '']) => name)

/** The events that `noteReview` and `recorded` name in the sources. */
const ofReviews = found(
  'core/reviews',
  /\b(?:noteReview|recorded)\([^;']{0,120}'([A-Z_]{5,})'/g,
).map((name) => `ACCESS_REVIEW_${name}`)
const ofAll = found(
  '.',
  /\b(?:recordActivity|recordOf|recordPush|recordInStore)\([^;']{0,120}'([A-Z_]{5,})'/g,
)

test.each([
  ['of an access review', ofReviews, ['ACCESS_REVIEW_DECIDED', 'ACCESS_REVIEW_ITEM_REMOVED']],
  ['that is recorded by its name', ofAll, ['APP_CONNECTED', 'PERSON_ERASED', 'TASK_OPENED']],
])('every event %s has a German name', (_, events, some) => {
  expect(events).toEqual(expect.arrayContaining(some))
  const bare = events.filter((type) => CONSOLE_EVENTS.event_named.de(type, '') === type)
  expect(bare).toEqual([])
})
