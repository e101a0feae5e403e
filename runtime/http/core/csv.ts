/**
 * Lists as CSV (RFC 4180), for every endpoint that returns a list. The whole list is read at one point in
 * time and sent while it is read. Columns are the members of the items. A value that is not a scalar is
 * written as JSON.
 */
import * as v from 'valibot'
import { csvColumns, type ListForm, listForm } from '../../contract/endpoints/csv-columns.ts'
import type { Endpoint } from '../../contract/endpoints/endpoint.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { schemaEntries } from '../../contract/schema/shape.ts'
import { inWalk } from '../../core/kernel/list/walk.ts'
import type { Db } from '../../database/database.ts'

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present'

/** Number of rows read at once. */
const PAGE = 500
/** Longest time without progress of the reader, and longest time for a whole list, in milliseconds. */
const STALLED_MS = 30_000
const MAX_WAIT_MS = 900_000

/** Reports whether an Accept header asks for CSV: it names CSV, and JSON with no greater weight. */
export function wantsCsv(accept: string | undefined): boolean {
  const weights = new Map(
    (accept ?? '').split(',').map((part): [string, number] => {
      const [type = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
      const q = parameters.find((one) => one.startsWith('q='))?.slice(2)
      return [type, q === undefined ? 1 : Number(q) || 0]
    }),
  )
  const csv = weights.get('text/csv') ?? 0
  return csv > 0 && csv >= (weights.get('application/json') ?? 0)
}

/**
 * First characters that make a spreadsheet run a cell (OWASP, CSV injection), full-width forms included. A
 * leading apostrophe makes the cell text.
 */
const RUNS = /^[=+\-@\t\r\n＝＋－＠]/

/** Formats a value as a cell. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const harmless = RUNS.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export const line = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`

/** Query members that read a list in pieces. Each form of list uses its own subset. */
type Step = { page: number; size: number; offset: number; limit: number; cursor: string | null }

/** Yields the pieces of a list in order. */
async function* piecesOf(
  { by, member }: ListForm,
  read: (step: Step) => Promise<unknown>,
): AsyncGenerator<unknown[]> {
  let cursor: string | null = null
  for (let page = 1; ; page += 1) {
    const offset = (page - 1) * PAGE
    const answer = await read({ page, size: PAGE, offset, limit: PAGE, cursor })
    const items = v.parse(Items, member === null ? answer : membersOf(answer)[member])
    yield items
    const { total, next_cursor: next } = v.parse(Counted, member === null ? {} : answer)
    cursor = next ?? null
    if (by === 'cursor' ? cursor === null : by === 'whole' || page * PAGE >= (total ?? 0)) return
  }
}

const Items = v.array(v.unknown())
const Counted = v.object({ total: v.optional(v.number()), next_cursor: v.nullish(v.string()) })

/** Number of lists being sent now. */
let sending = 0

/**
 * Starts sending a list. It resolves when the first rows are read, so that errors in the query are reported
 * as usual. A later failure aborts the response, which cannot be mistaken for the whole list.
 *
 * @param read Reads one piece, in the given transaction.
 * @throws CoreError `too_many_requests` while the maximum number of lists is being sent
 */
export async function csvOf(
  db: Db,
  row: Pick<Endpoint, 'path' | 'method' | 'answer' | 'output' | 'who' | 'query'>,
  read: (tx: Db, step: Step) => Promise<unknown>,
): Promise<ReadableStream<Uint8Array>> {
  const { most } = CALLER_LIMITS.csv_lists
  if (sending >= most)
    throw new CoreError(
      'too_many_requests',
      `This host is already sending ${most} lists as CSV; try again soon`,
      {
        retryAfterSeconds: 5,
      },
    )
  const found = listForm(row)
  if (found === null) throw new Error(`${row.path} answers no list`)
  const form: ListForm = found
  const { item: schema } = form
  const columns = csvColumns(schema)
  const hasMembers = Object.keys(schemaEntries(schema)).length > 0
  const encoder = new TextEncoder()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const begun = Promise.withResolvers<void>()
  const until = Date.now() + MAX_WAIT_MS

  async function send(tx: Db): Promise<void> {
    let head = line(columns)
    for await (const items of piecesOf(form, (step) => read(tx, step))) {
      const rows = items.map((item) => {
        const value = v.parse(schema, item)
        if (!hasMembers) return line([value])
        const members = membersOf(value)
        return line(columns.map((name) => members[name]))
      })
      begun.resolve()
      await inTime(writer.write(encoder.encode(head + rows.join(''))), until)
      head = ''
    }
  }

  sending += 1
  inWalk(db, send)
    .then(() => writer.close())
    .catch((error: unknown) => {
      begun.reject(error)
      return writer.abort(error)
    })
    .catch(() => undefined)
    .finally(() => {
      sending -= 1
    })
  await begun.promise
  return readable
}

/** Waits until the reader takes the written data. @throws Error if it does not take it in time */
async function inTime(taken: Promise<void>, untilMs: number): Promise<void> {
  const ms = Math.min(STALLED_MS, untilMs - Date.now())
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error('the list could not be read in time')),
      Math.max(0, ms),
    )
  })
  try {
    await Promise.race([taken, late])
  } finally {
    clearTimeout(timer)
  }
}
