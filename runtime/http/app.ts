/**
 * The HTTP interface: takes a value out of a request, calls one function, gives JSON back. Everything
 * it needs is handed in; tests drive it without a socket.
 */
import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { RuntimeError } from '../contract/errors.ts'
import type { Log } from '../log.ts'
import { type ConnectorRoutesDeps, connectorRoutes } from './connectors.ts'
import { type CoreDeps, coreRoutes } from './core/routes.ts'
import { DOCS_STYLE, docsPage } from './documents/docs-page.ts'
import { casesJsonSchema, manifestJsonSchema } from './documents/manifest-schema.ts'
import { connectorInterfaceDocument } from './documents/openapi.ts'
import { hostGuard, tokenGuard } from './guards.ts'
import { logoRoutes } from './logos.ts'
import type { Metrics } from './metrics.ts'
import { operatorRoutes } from './operator.ts'
import { createOnError, type Env } from './problem.ts'
import { settingsRoutes } from './settings/routes.ts'

export type AppDeps = ConnectorRoutesDeps & {
  core: CoreDeps
  log: Log
  metrics: Metrics
  /** Names that the Host header may have besides the loopback ones; null: any. */
  allowedHosts: readonly string[] | null
  /** Empty: the connector interface and /metrics answer without a token. */
  connectorToken: string
  adminToken: string
  /** What /readyz says. */
  readiness(): { ready: boolean } & Record<string, unknown>
  listConnectors(): unknown[]
  releaseConnector(id: string): { id: string; released: boolean } | null
}

/** Headers that may carry the caller's own id of a request (connector-interface.md section 1.1). */
const CORRELATION = [
  'x-request-id',
  'x-lumos-observability-flows_v2_execution_id',
  'x-lumos-observability-dagster.run_id',
]

/** Makes the whole interface. */
export function createApp(deps: AppDeps): Hono<Env> {
  const app = new Hono<Env>()
  const { connectorsPath, log, metrics } = deps

  app.onError(createOnError(log))
  app.notFound((c) => {
    // The connector interface answers in its envelope, the core interface in its own form.
    if (!c.req.path.startsWith(`${connectorsPath}/`)) return c.json({ detail: 'Not Found' }, 404)
    const message = `nothing is served at ${c.req.path.slice(0, 200)}; see /docs`
    throw new RuntimeError('path_unknown', message)
  })

  app.use(async (c, next) => {
    const given = CORRELATION.map((name) => c.req.header(name)).find((id) => id !== undefined) ?? ''
    const requestId = /^[a-zA-Z0-9._-]{1,100}$/.test(given) ? given : randomUUID()
    c.set('requestId', requestId)
    await next()
    c.res.headers.set('x-request-id', requestId)
  })
  app.use(hostGuard(deps.allowedHosts))

  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', (c) => {
    const readiness = deps.readiness()
    return c.json(readiness, readiness.ready ? 200 : 503)
  })
  app.get('/metrics', tokenGuard(deps.connectorToken, '/metrics'), async (c) =>
    c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
  documents(app, connectorsPath)

  app.route('/operator', operatorRoutes({ ...deps, ...deps.core }))

  for (const path of READ_ONLY) app.all(path, only('GET'))
  for (const path of POST_ONLY) app.all(path, only('POST'))

  app.use(`${connectorsPath}/*`, tokenGuard(deps.connectorToken, 'the connector interface'))
  app.route(connectorsPath, connectorRoutes(deps))
  app.route('/', logoRoutes(deps))
  app.route('/settings', settingsRoutes(deps.core))
  app.route('/', coreRoutes(deps.core))
  return app
}

/** What can only be read; any other method is refused as such, not as an unknown path. */
const READ_ONLY = [
  '/healthz',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/docs.css',
  '/schemas/connector.json',
  '/schemas/connector.cases.json',
  '/operator/connectors',
]

const POST_ONLY = [
  '/operator/users/import',
  '/operator/login-links',
  '/operator/connectors/:connector_id/release',
]

function only(method: string): (c: Context<Env>) => never {
  return (c) => {
    c.header('allow', method)
    throw new RuntimeError('method_wrong', `${c.req.method} is not served here; send ${method}`)
  }
}

/** What describes the interface; made once, when first asked for. */
function documents(app: Hono<Env>, connectorsPath: string): void {
  let document: ReturnType<typeof connectorInterfaceDocument> | null = null
  const made = () => {
    document ??= connectorInterfaceDocument({ connectorsPath })
    return document
  }
  app.get('/openapi.json', (c) => c.json(made() as never))
  app.get('/docs', (c) => {
    return c.html(docsPage(made()), 200, {
      'content-security-policy':
        "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    })
  })
  app.get('/docs.css', (c) =>
    c.body(DOCS_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }),
  )
  app.get('/schemas/connector.json', (c) => c.json(manifestJsonSchema() as never))
  app.get('/schemas/connector.cases.json', (c) => c.json(casesJsonSchema() as never))
}
