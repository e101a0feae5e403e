/** The operator interface: everything below /operator (architecture.md section 10). */

import { type Context, Hono } from 'hono'
import type { ReleaseConnector } from '../../connectors/lifecycle/quarantined.ts'
import { bool, parseParams, text } from '../../contract/endpoints/params.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { MAX_PEOPLE_BYTES } from '../../contract/models/people-file.ts'
import { importPeople } from '../../core/directory/import/import.ts'
import { ownerOfToken } from '../../core/sign-in/operator.ts'
import { streamBody } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'
import { bearerOf, guard, jsonCheck, mediaCheck } from '../edge/guards.ts'
import { asOperator, operatorGuard, reached } from './guard.ts'
import { type LifecycleRoutesDeps, lifecycleRoutes } from './lifecycle.ts'
import { makeLoginLink } from './login-links.ts'
import { proveHost } from './proof.ts'

type OperatorDeps = LifecycleRoutesDeps & {
  releaseConnector: ReleaseConnector
}

/** Query of `POST /operator/users/import`. */
export const IMPORT_QUERY = {
  dry_run: bool(false).describe('Only compare; nothing is stored'),
  file_name: text().describe('Name of the file, for the activity log'),
}

/** Content type CSV, with the character set UTF-8 if one is named. */
const csvCheck = mediaCheck(
  /^text\/csv\s*(;(?!.*charset)|;.*charset\s*=\s*"?utf-?8"?|$)/i,
  'text/csv',
)

/** Longest file name that is kept, in characters. */
const MAX_FILE_NAME = 255

export function operatorRoutes(deps: OperatorDeps): Hono<Env> {
  const routes = new Hono<Env>()
  // Before the guard: here the host identifies itself, not the caller.
  routes.get('/proof', (c) => asOperator(c, () => proveHost(c, deps)))
  routes.use(operatorGuard(deps))
  routes.get('/connectors', (c) => c.json({ items: deps.listConnectors() }))
  routes.post('/connectors/:connector_id/release', (c) =>
    asOperator(c, async () => c.json(await release(c, deps))),
  )
  routes.post('/users/import', guard(csvCheck), (c) =>
    asOperator(c, async () => c.json(await importFile(c, deps))),
  )
  routes.post('/login-links', guard(jsonCheck), (c) => asOperator(c, () => makeLoginLink(c, deps)))
  routes.route('/', lifecycleRoutes(deps))
  return routes
}

async function release(c: Context<Env>, deps: OperatorDeps) {
  const id = c.req.param('connector_id') ?? ''
  const token = bearerOf(c)
  const outcome = await deps.releaseConnector(id, (tx) => ownerOfToken(tx, deps.hasher, token))
  if (!outcome)
    throw new CoreError('not_found', `There is no connector ${JSON.stringify(id.slice(0, 64))}`)
  return outcome
}

async function importFile(c: Context<Env>, deps: OperatorDeps) {
  const { values, entries } = parseParams(IMPORT_QUERY, new URL(c.req.url).searchParams)
  if (entries.length > 0) throw new CoreError('invalid', entries)
  const actor = await c.get('operator')()
  return importPeople(reached(deps.db()), actor, streamBody(c, MAX_PEOPLE_BYTES), {
    dryRun: values.dry_run,
    listeners: deps.parts.listeners,
    fileName: (values.file_name ?? '').replace(/\p{C}/gu, '').slice(0, MAX_FILE_NAME),
  })
}
