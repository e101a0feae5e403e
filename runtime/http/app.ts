/**
 * The HTTP interface. It takes a value out of a request, calls one function and returns JSON. All
 * dependencies are passed in, so tests run it without a socket.
 */

import { Hono } from 'hono'
import { getPath } from 'hono/utils/url'
import { inSlices } from '../bounded/slices.ts'
import type { ReleaseConnector } from '../connectors/lifecycle/quarantined.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import type { OperatorStanding } from '../core/sign-in/operator-standing.ts'
import type { Log } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { type ConnectorRoutesDeps, connectorRoutes } from './connectors/connectors.ts'
import { logoRoutes } from './connectors/logos.ts'
import { consoleRoutes } from './console/routes.ts'
import { type CoreDeps, coreRoutes } from './core/routes.ts'
import { docsRoutes } from './docs/routes.ts'
import type { OpenApiDocument } from './documents/document.ts'
import { casesJsonSchema, manifestJsonSchema } from './documents/manifest-schema.ts'
import { documentSteps } from './documents/openapi.ts'
import { opensPage } from './edge/accepts-html.ts'
import { answerDocument, lazyDocument } from './edge/cached-documents.ts'
import type { Env } from './edge/env.ts'
import { createFollowing } from './edge/followed-lists.ts'
import { type Check, guard, hostCheck, tokenCheck, wrongMethod } from './edge/guards.ts'
import { createOnError } from './edge/problem.ts'
import { nameRequest, REQUEST_ID } from './edge/request-id.ts'
import { assetRoutes } from './frame/assets.ts'
import type { OperatorParts } from './operator/handler.ts'
import { operatorRoutes } from './operator/routes.ts'
import { nothingThere, pageRoutes } from './pages/routes.ts'
import type { Readiness } from './readiness.ts'
import { scimRoutes } from './scim/routes.ts'
import { settingsRoutes } from './settings/routes.ts'

type AppDeps = ConnectorRoutesDeps &
  OperatorParts & {
    core: CoreDeps
    log: Log
    metrics: Metrics
    /** Host names accepted in addition to the loopback ones; null accepts any. */
    allowedHosts: readonly string[] | null
    /** Token of the connector interface and /metrics. If empty, both answer without a token. */
    connectorToken: string
    operator: OperatorStanding
    dataDir: string
    isEmbedded: boolean
    /** Aborted when the host is about to stop. */
    leaving: AbortSignal
    /** Source of the answers to /readyz and /readyz/connectors. */
    readiness: Readiness
    releaseConnector: ReleaseConnector
  }

/** Creates the HTTP interface. */
export function createApp(deps: AppDeps): Hono<Env> {
  const app = new Hono<Env>()
  const { connectorsPath, log, metrics } = deps
  const checkHost = hostCheck(deps.allowedHosts)

  app.onError(createOnError(log))
  app.notFound((c) => {
    c.header('vary', 'accept')
    const isOpened = c.req.method === 'GET' && opensPage(c.req.header('accept'))
    return isOpened ? nothingThere(log, c) : c.json({ detail: 'Not Found' }, 404)
  })
  app.use(async (c, next) => {
    const requestId = nameRequest(c)
    await next()
    c.res.headers.set(REQUEST_ID, requestId)
  })
  app.use(guard(checkHost))

  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  for (const [path, say] of [
    ['/readyz', deps.readiness.say],
    ['/readyz/connectors', deps.readiness.sayForConnectors],
  ] as const)
    app.get(path, (c) => {
      const readiness = say()
      return c.json(readiness, readiness.ready ? 200 : 503)
    })
  app.get('/metrics', guard(tokenCheck(deps.connectorToken, '/metrics')), async (c) =>
    c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  )
  const document = () => inSlices(documentSteps({ connectorsPath }))
  documents(app, document)
  app.route('/', docsRoutes(document))
  app.route('/assets', assetRoutes())
  const whole = { ...deps, ...deps.core, following: createFollowing(deps.leaving) }
  // Before the pages: some console pages are below the paths of the inbox.
  app.route('/', consoleRoutes(whole))
  app.route('/', pageRoutes(whole))

  app.route('/operator', operatorRoutes(whole))

  for (const path of READ_ONLY) app.all(path, (c) => wrongMethod(c, 'GET'))
  for (const path of POST_ONLY) app.all(path, (c) => wrongMethod(c, 'POST'))

  app.route('/', logoRoutes(deps))
  app.route('/settings', settingsRoutes(deps.core))
  app.route('/', scimRoutes(deps.core))
  app.route('/', coreRoutes(deps.core))
  return withConnectors(app, deps, checkHost)
}

/** Dispatches connector requests before all other routes, so that a capability call passes none of them. */
export function withConnectors(
  others: Hono<Env>,
  deps: ConnectorRoutesDeps & Pick<AppDeps, 'connectorToken' | 'log'>,
  checkHost: Check,
): Hono<Env> {
  const { connectorsPath, connectorToken, log } = deps
  const checkToken = tokenCheck(connectorToken, 'the connector interface')
  const connectors = new Hono<Env>()
  connectors.onError(createOnError(log))
  connectors.notFound((c) => {
    throw new RuntimeError(
      'path_unknown',
      `nothing is served at ${c.req.path.slice(0, 200)}; see /docs`,
    )
  })
  connectors.use((c, next) => {
    nameRequest(c)
    checkHost(c)
    checkToken(c)
    return next()
  })
  connectors.route(connectorsPath, connectorRoutes(deps))
  const { fetch } = others
  others.fetch = (request, ...rest) =>
    getPath(request).startsWith(`${connectorsPath}/`)
      ? connectors.fetch(request, ...rest)
      : fetch(request, ...rest)
  return others
}

/** Paths that can only be read. Any other method is refused with 405 instead of 404. */
const READ_ONLY = [
  '/healthz',
  '/readyz',
  '/readyz/connectors',
  '/metrics',
  '/assets/*',
  '/openapi.json',
  '/docs',
  '/docs.css',
  '/docs/*',
  '/schemas/connector.json',
  '/schemas/connector.cases.json',
  '/operator/connectors',
  '/operator/proof',
]

const POST_ONLY = [
  '/operator/users/import',
  '/operator/login-links',
  '/operator/connectors/:connector_id/release',
]

/** Serves the documents that describe the interface. Each is made once, on first use. */
function documents(app: Hono<Env>, document: () => Promise<OpenApiDocument>): void {
  const json = (make: () => unknown) =>
    lazyDocument('application/json', async () => JSON.stringify(await make()))
  const kept = {
    '/openapi.json': json(document),
    '/schemas/connector.json': json(manifestJsonSchema),
    '/schemas/connector.cases.json': json(casesJsonSchema),
  }
  for (const [path, made] of Object.entries(kept))
    app.get(path, async (c) => answerDocument(c, await made()))
}
