/** The tables of events and of task types hold what the product records and opens, and nothing else. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { ACTIVITY_EVENTS } from '../../runtime/contract/models/activity-event.ts'
import { TASK_TYPES } from '../../runtime/contract/models/task-type.ts'
import { CONSOLE_EVENTS } from '../../runtime/words/console-events.ts'

const RUNTIME = path.join(import.meta.dirname, '..', '..', 'runtime')

/** Folders that record events or open tasks, and the actions on connectors, which name their events. */
const SOURCES = ['core', 'connectors', 'http', 'cli', 'contract/endpoints', 'contract/models']
/** The tables themselves. */
const TABLES = ['activity-event.ts', 'task-type.ts']

/** Functions that name events of reviews without their beginning. */
const OF_REVIEWS = /(\b(?:noteReview|recorded)\([^;']{0,120})'(?=[A-Z_]{5,}')/g

const texts = SOURCES.flatMap((folder) =>
  readdirSync(path.join(RUNTIME, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !TABLES.includes(path.basename(file)))
    .map((file) => readFileSync(path.join(RUNTIME, folder, file), 'utf8'))
    .map((text) => text.replace(OF_REVIEWS, "$1'ACCESS_REVIEW_")),
)
const matches = (pattern: RegExp): Set<string> =>
  new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name)))

/** Names in quotes or as keys, and beginnings of names in templates, such as `ACCESS_POLICY_${what}`. */
const names = matches(/(?:'|^ {2})([A-Z]+(?:_[A-Z]+)*)(?:'|: )/gm)
const beginnings = [...matches(/`([A-Z]+(?:_[A-Z]+)*_)\$\{/g)]

const isUsed = (name: string): boolean =>
  names.has(name) ||
  beginnings.some((one) => name.startsWith(one) && names.has(name.slice(one.length)))

describe('every row is used:', () => {
  test.each([
    ['events of the activity log', ACTIVITY_EVENTS],
    ['types of tasks', TASK_TYPES],
  ])('%s', (_, table) => {
    expect(isUsed('NEVER_RECORDED')).toBe(false)
    expect(Object.keys(table).filter((name) => !isUsed(name))).toEqual([])
  })
})

describe('the console names an event in German', () => {
  const { de } = CONSOLE_EVENTS.event_named

  test('by its German words', () => {
    expect(de('TASK_OPENED', 'Task opened')).toBe('Aufgabe angelegt')
  })

  test('by its type if an earlier version recorded it and no version does now', () => {
    expect(de('FORMER_EVENT', 'Former event')).toBe('FORMER_EVENT')
  })
})
