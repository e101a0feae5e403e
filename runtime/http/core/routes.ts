/**
 * The core interface: one loop over the table of endpoints. Order of checks (core-interface.md section 3):
 * token, rate, permission, then query and body together.
 */

import { isUtf8 } from 'node:buffer'
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { parseBodyBytes } from '../../contract/endpoints/body.ts'
import { listForm } from '../../contract/endpoints/csv-columns.ts'
import type { Endpoint } from '../../contract/endpoints/endpoint.ts'
import { parseParams } from '../../contract/endpoints/params.ts'
import { ENDPOINTS } from '../../contract/endpoints/table.ts'
import { CoreError, forbidden, type ValidationEntry } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import type { KnownProvider, ProviderSignIn } from '../../contract/models/sign-in-provider.ts'
import { fillOf } from '../../contract/schema/fill.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { membersOf } from '../../contract/schema/record.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import type { CoreContext } from '../../core/kernel/context/context.ts'
import { FileAnswer } from '../../core/kernel/file-answer.ts'
import {
  authenticate,
  type Principal,
  requirePermission,
  requireUnchanged,
} from '../../core/kernel/identity/principal.ts'
import type { TokenHasher } from '../../core/kernel/identity/token-hasher.ts'
import { noteUse } from '../../core/kernel/identity/tokens.ts'
import { parseUpload } from '../../core/uploads/upload-thread.ts'
import type { Db } from '../../database/database.ts'
import type { Log } from '../../observe/log.ts'
import type { Sealer } from '../../secrets/seal.ts'
import { readBytes } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'
import { logRefusal } from '../edge/log-refusal.ts'
import { sendJson } from '../edge/send-json.ts'
import { serveRows } from '../edge/serve-rows.ts'
import { refusalHeaders, statusOfRefusal } from '../edge/statuses.ts'
import { away, toCoreError } from '../edge/to-core-error.ts'
import { whileAllowed } from '../edge/while-allowed.ts'
import { CSV_TYPE, csvOf, wantsCsv } from './csv.ts'
import { HANDLERS } from './handlers.ts'
import { createRateLimit, enforceRate } from './rate-limit.ts'

export type CoreDeps = {
  /** Returns null until the database has been reached. */
  db(): Db | null
  hasher: TokenHasher
  parts: CoreContext
  requestsPerMinute: number
  /** Public address of the host (KEYWAY_PUBLIC_URL), or null if it is not set. */
  publicOrigin: string | null
  /** Sign-in by identity providers. */
  signIn: {
    providers: readonly KnownProvider[]
    identity: ProviderSignIn
    /** Seals the state that a browser keeps during a sign-in. */
    vault: Sealer
  }
  /** Returns the address of the client. */
  clientAddress(c: Context<Env>): string
  log: Log
  /** Called after each answer, with the endpoint's name, the status and the duration in seconds. */
  onAnswer(endpoint: string, status: number, seconds: number): void
}

/** Caller of an endpoint that needs none. The cast: its handler uses neither member. */
const NOBODY = { db: null, principal: null } as { db: never; principal: never }

export function coreRoutes(deps: CoreDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const rate = createRateLimit({ ...CALLER_LIMITS.core_requests, most: deps.requestsPerMinute })
  const rows = entriesOf<Record<keyof typeof ENDPOINTS, Endpoint>>(ENDPOINTS)

  async function answer(
    c: Context<Env>,
    name: keyof typeof ENDPOINTS,
    row: Endpoint,
  ): Promise<Response> {
    const { db, principal } = row.who === 'anybody' ? NOBODY : await caller(c, row)
    const still = async () =>
      requireUnchanged(
        principal,
        await authenticate(db, deps.hasher, c.req.header('authorization')),
      )
    const input = await parseInput(c, row)
    const requestId = c.get('requestId')
    const cause = { kind: 'request', id: requestId } as const
    const parts = { ...deps.parts, requestId, cause, signal: c.req.raw.signal }
    // The cast: TypeScript does not relate a row to the handler of the same name.
    const handle = (tx: Db, one: typeof input) => HANDLERS[name](tx, principal, one as never, parts)
    if (listForm(row) !== null && wantsCsv(c.req.header('accept'))) {
      // Reading the log gives pending entries their place in the chain. The walk below is read-only and
      // cannot.
      if (row.answer === 'limit-offset') await handle(db, input)
      const list = await csvOf(db, row, (tx, step) =>
        handle(tx, { ...input, query: { ...input.query, ...step } }),
      )
      const file = `attachment; filename="${name.replace(/^list_/, '')}.csv"`
      return c.body(whileAllowed(list, still), 200, {
        'content-type': CSV_TYPE,
        'content-disposition': file,
      })
    }
    const result = await handle(db, input)
    if (row.answer === 'empty') return c.body(null, 204)
    if (row.answer === 'text') return c.text(v.parse(v.string(), result))
    if (row.answer === 'file') {
      const { name, media, body } = v.parse(FileAnswer, result)
      // The body is not sent, so stop its source.
      if (c.req.method === 'HEAD') await body.cancel()
      return c.body(whileAllowed(body, still), 200, {
        ...{ 'content-type': media, 'cache-control': 'no-store' },
        'content-disposition': `attachment; filename="${name}"`,
      })
    }
    return sendJson(c, checked(row, result), row.status)
  }

  /** Authenticates the caller, and checks the rate and the permission. */
  async function caller(c: Context<Env>, row: Endpoint) {
    const db = deps.db()
    if (!db) throw away()
    const principal = await authenticate(db, deps.hasher, c.req.header('authorization'))
    enforceRate(c, rate, principal.tokenId)
    await noteUse(db, principal)
    authorise(principal, row)
    return { db, principal }
  }

  function refuse(c: Context<Env>, thrown: unknown): Response {
    const requestId = c.get('requestId')
    const error = toCoreError(thrown, requestId)
    logRefusal(deps.log, error, { requestId, path: c.req.path })
    const { kind, detail } = error
    if (kind === 'unauthenticated') c.header('www-authenticate', 'Bearer')
    return sendJson(c, { detail }, statusOfRefusal(error), refusalHeaders(error))
  }

  const { onAnswer } = deps
  const wrongMethod = (c: Context<Env>, allow: string) =>
    c.json({ detail: 'Method Not Allowed' }, 405, { allow })
  const { readMs } = deps.parts.pace
  serveRows(routes, { rows, answer, refuse, wrongMethod, onAnswer, readMs })
  return routes
}

function authorise(principal: Principal, { who, method }: Endpoint): void {
  if (principal.readOnly && method !== 'GET') throw forbidden('This token is read-only')
  if (who !== 'caller' && who !== 'anybody') requirePermission(principal, who)
}

async function parseInput(c: Context<Env>, row: Endpoint) {
  const { values, entries } = parseParams(row.query, new URL(c.req.url).searchParams)
  const texts = textEntries(c).slice(0, MAX_ENTRIES)
  const body = await bodyOf(c, row)
  const all = [...entries, ...texts, ...(body && !body.ok ? body.entries : [])]
  if (all.length > 0) throw new CoreError('invalid', all)
  const params = c.req.param()
  const [id = ''] = Object.values(params)
  return {
    ...{ id, params },
    query: values,
    body: body?.ok ? body.value : null,
  }
}

async function bodyOf(c: Context<Env>, { body, maxBytes, upload }: Endpoint) {
  if (body === null) return null
  const isJson = /^application\/([a-z.+-]+\+)?json\s*(;|$)/i.test(
    c.req.header('content-type') ?? '',
  )
  const most = maxBytes ?? INPUTS.core_body.maxBytes
  const bytes = await readBytes(c, most)
  return upload === null
    ? parseBodyBytes(body, bytes, isJson, INPUTS.core_body.maxMarks)
    : parseUpload(upload, bytes, isJson)
}

/**
 * Returns an entry for each query value that PostgreSQL would refuse, or that would be decoded to something
 * that was not sent.
 */
function textEntries(c: Context<Env>): ValidationEntry[] {
  const { search } = new URL(c.req.url)
  return search
    .slice(1)
    .split('&')
    .flatMap((part) => {
      const [[name, value] = ['', '']] = new URLSearchParams(part)
      const wrong = !isUtf8(unescaped(part)) ? NOT_UTF8 : value.includes('\u0000') ? HAS_NUL : null
      return wrong ? [{ loc: ['query', name], msg: wrong, type: 'value_error' }] : []
    })
}

/** Maximum number of entries of one kind in a 422, the same as for a body. */
const MAX_ENTRIES = 100

const HAS_NUL = 'Value error, text must not contain the character NUL'
const NOT_UTF8 = 'Value error, text must be UTF-8'

/** Returns the bytes of a percent-encoded part of a query. The rest of an address is ASCII. */
const unescaped = (part: string): Buffer =>
  Buffer.from(
    part.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

/** Returns a value with its nulls filled in. Schemas that need more than that parse it. */
function made(schema: AnySchema, value: unknown): unknown {
  const filled = fillOf(schema)(value)
  return filled === undefined ? v.parse(schema, value) : filled
}

/**
 * Returns the result with nulls filled in, exactly as the contract requires. A mismatch is a defect of
 * Keyway.
 */
function checked(row: Endpoint, result: unknown): unknown {
  const { output } = row
  if (output === null) throw new Error('an endpoint that answers has a schema')
  if (row.answer === 'json') return made(output, result)
  const { items, ...page } = membersOf(result)
  return { items: made(v.array(output), items), ...page }
}
