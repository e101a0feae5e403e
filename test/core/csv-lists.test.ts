/** Every list as CSV: formulas are escaped, and long lists are complete. */
import { parse } from 'csv-parse/sync'
import { sql } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  csvColumns,
  type ListForm,
  listForm,
} from '../../runtime/contract/endpoints/csv-columns.ts'
import type { Endpoint } from '../../runtime/contract/endpoints/endpoint.ts'
import { ENDPOINTS, type EndpointName } from '../../runtime/contract/endpoints/table.ts'
import type { AnySchema } from '../../runtime/contract/schema/shape.ts'
import { shapeOf } from '../../runtime/contract/schema/shape.ts'
import { csvOf } from '../../runtime/http/core/csv.ts'
import { type CoreHost, domainOf, person, startCore } from './host.ts'

const LISTS = (Object.entries(ENDPOINTS) as [EndpointName, Endpoint][]).flatMap(([name, row]) => {
  const form = listForm(row)
  return form === null ? [] : [{ name, row, form }]
})

let core: CoreHost

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '1000000' })
})
afterAll(() => core.stop())

/** A value that matches a schema, with a given text in all its free-text fields. */
function madeOf(schema: AnySchema, text: string): unknown {
  const { type, entries, item, wrapped, options, literal } = shapeOf(schema)
  if (wrapped) return madeOf(wrapped, text)
  if (entries)
    return Object.fromEntries(Object.entries(entries).map(([key, one]) => [key, madeOf(one, text)]))
  if (item) return [madeOf(item, text)]
  if (type === 'picklist') return options?.[0]
  if (type === 'literal') return literal
  if (type === 'number') return -7
  if (type === 'boolean') return true
  if (type === 'record' || type === 'custom') return {}
  // Cast: the options of a union are schemas, but the common type does not say so.
  if (type === 'union' || type === 'variant') return madeOf(options?.[0] as AnySchema, text)
  return text
}

/** One page of a list, as its handler returns it. */
const answerOf = ({ member }: ListForm, items: unknown[]): unknown =>
  member === null ? items : { [member]: items, total: items.length, next_cursor: null }

describe.each(LISTS)('$name', ({ row, form }) => {
  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])(
    'escapes cells with the formula %j',
    async (text) => {
      const item = madeOf(form.item, text)
      expect(v.safeParse(form.item, item).issues).toBeUndefined()
      const body = await csvOf(core.db, row, async () => answerOf(form, [item]))
      const [head, ...rows] = parse(await new Response(body).text(), {
        record_delimiter: '\r\n',
      }) as string[][]
      expect(head).toEqual(csvColumns(form.item))
      expect(rows).toHaveLength(1)
      for (const cell of rows[0] ?? [])
        if (cell !== '-7') expect(cell).not.toMatch(/^[=+\-@\t\r\n]/)
      const free = Object.values(typeof item === 'object' ? { ...item } : [item]).filter(
        (one) => one === text,
      )
      expect((rows[0] ?? []).filter((cell) => cell === `'${text}`)).toHaveLength(free.length)
    },
  )
})

const rowsOf = async (path: string): Promise<Record<string, string>[]> => {
  const { status, body } = await core.call('GET', path, { headers: { accept: 'text/csv' } })
  expect(status).toBe(200)
  return parse(body, { columns: true, record_delimiter: '\r\n' })
}

/** More rows than are read at once. */
const MANY = 1200

test('the activity log is complete in both orders, and email addresses that look like formulas are escaped', async () => {
  const { id } = await person(core.db, '=ada@example.com')
  await core.db.execute(sql`insert into activity_waiting (domain_id, body)
    select ${await domainOf(core.db)}, ${`"${await domainOf(core.db)}","MANY","Succeeded",{"email":"=cmd"},[],{}`}
    from generate_series(1, ${MANY})`)
  const all = await rowsOf('/activity_logs?event_type=MANY')
  expect(all).toHaveLength(MANY)
  expect(new Set(all.map((one) => one['event_hash'])).size).toBe(MANY)
  const reversed = await rowsOf('/activity_logs?event_type=MANY&newest_first=true')
  expect(reversed.map((one) => one['event_hash'])).toEqual(
    all.map((one) => one['event_hash']).reverse(),
  )
  const people = await rowsOf('/users')
  expect(people.find((one) => one['id'] === id)).toMatchObject({ email: "'=ada@example.com" })
})

test('the list of identity events is complete', async () => {
  const { id } = await person(core.db, 'changed@example.com')
  await core.db.execute(sql`insert into identity_events (domain_id, user_id, changed_field, old_value, new_value)
    select ${await domainOf(core.db)}, ${id}, 'given_name', '@old', n::text from generate_series(1, ${MANY}) n`)
  const rows = await rowsOf(`/identity_events?identity_ids=${id}`)
  expect(rows.map((one) => Number(one['new_field_value']))).toEqual(
    Array.from({ length: MANY }, (_, n) => n + 1),
  )
  expect(rows[0]).toMatchObject({ old_field_value: "'@old" })
})

test('lists without pages are available as CSV too', async () => {
  expect((await rowsOf('/apps/categories')).length).toBeGreaterThan(3)
  const { id } = await person(core.db, 'role@example.com', ['Auditor'])
  expect(await rowsOf(`/users/${id}/roles`)).toContainEqual(
    expect.objectContaining({ name: 'Auditor' }),
  )
})
