/** The operator's endpoints for the lifecycle and for webhooks: one loop over their table. */

import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { UploadedPackage } from '../../connectors/lifecycle/packages.ts'
import { MAX_PACKED_BYTES } from '../../connectors/packages/format.ts'
import { SIGNATURE_HEADER } from '../../connectors/packages/sign.ts'
import { describeIssues } from '../../contract/connector/payload.ts'
import { storageFault } from '../../contract/endpoints/body.ts'
import { OPERATOR_ENDPOINTS, type OperatorRow } from '../../contract/endpoints/operator.ts'
import { parseParams } from '../../contract/endpoints/params.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import { notJson } from '../../contract/schema/json-text.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'
import { readBody } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'
import { type Following, wantsEvents } from '../edge/followed-lists.ts'
import { jsonCheck, mediaCheck, wrongMethod } from '../edge/guards.ts'
import { sendJson } from '../edge/send-json.ts'
import { serveRows } from '../edge/serve-rows.ts'
import { type OperatorGuardDeps, reached, refuseOperator } from './guard.ts'
import { bytesByDisk, MAX_SIGNATURE_BYTES, uploadedOf } from './package-upload.ts'
import { operatingOf, type PerformDeps, perform } from './perform.ts'

export type LifecycleRoutesDeps = OperatorGuardDeps &
  PerformDeps & {
    following: Following
  }

const packageCheck = mediaCheck(
  /^application\/(gzip|x-gzip|octet-stream)\s*(;|$)/i,
  'application/gzip',
)

type Name = keyof typeof OPERATOR_ENDPOINTS

export function lifecycleRoutes(deps: LifecycleRoutesDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const { follow } = deps.following
  serveRows(routes, {
    rows: entriesOf<Record<Name, OperatorRow>>(OPERATOR_ENDPOINTS),
    async answer(c, name, row) {
      const find = () => resultOf(c, name, row, deps)
      if (!row.followed || !wantsEvents(c)) return sendJson(c, await find(), row.status)
      const { userId } = await c.get('operator')()
      return follow(c, userId, find)
    },
    refuse: refuseOperator,
    wrongMethod,
    readMs: deps.parts.pace.readMs,
  })
  return routes
}

async function resultOf(
  c: Context<Env>,
  name: Name,
  row: OperatorRow,
  deps: LifecycleRoutesDeps,
): Promise<unknown> {
  const { values, entries } = parseParams(row.query, new URL(c.req.url).searchParams)
  if (entries.length > 0) throw new CoreError('invalid', entries)
  const params = c.req.param()
  if (storageFault(params) !== null) throw new CoreError('not_found', 'Nothing has that name')
  checkTexts({ query: values })
  const body = row.body ? await bodyOf(c, row.body) : null
  const uploaded = row.upload ? await uploadOf(c, deps.dataDir) : null
  const db = reached(deps.db())
  const actor = await c.get('operator')()
  const about = { requestId: c.get('requestId'), signal: c.req.raw.signal }
  const input = { params, query: values, body, uploaded }
  return perform(await operatingOf(deps, db, actor, about), name, input)
}

async function bodyOf(c: Context<Env>, schema: AnySchema): Promise<unknown> {
  jsonCheck(c)
  const text = await readBody(c, INPUTS.operator_body)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new RuntimeError('input_invalid', notJson('the body', cause))
  }
  checkTexts(value)
  const parsed = v.safeParse(schema, value)
  if (parsed.success) return parsed.output
  // No value is repeated: a malformed value may be a secret, in any field.
  throw new RuntimeError(
    'input_invalid',
    describeIssues(parsed.issues, '', () => true),
  )
}

/** Refuses texts that the database cannot store. */
function checkTexts(value: unknown): void {
  const why = storageFault(value)
  if (why !== null) throw new RuntimeError('input_invalid', why)
}

async function uploadOf(c: Context<Env>, dataDir: string): Promise<UploadedPackage> {
  packageCheck(c)
  const signature = signatureOf(c)
  return uploadedOf(await bytesByDisk(c, dataDir, MAX_PACKED_BYTES), signature)
}

function signatureOf(c: Context<Env>): string | null {
  const given = c.req.header(SIGNATURE_HEADER)
  if (given === undefined) return null
  const text = Buffer.from(given, 'base64').toString('utf8')
  if (given.length <= 2 * MAX_SIGNATURE_BYTES && text.length > 0) return text
  throw new RuntimeError(
    'input_invalid',
    `${SIGNATURE_HEADER}: is not the base64 of a .sig file written by keyway sign`,
  )
}
