/** The connector interface: discovery, documents, capabilities (service.md section 4.1). */
import { Hono } from 'hono'
import { isCapability } from '../contract/capabilities.ts'
import { RuntimeError } from '../contract/errors.ts'
import { type Manifest, normalizeId } from '../contract/manifest.ts'
import type { Answer, Invoke } from '../invoke/invoke.ts'
import { readBody } from './body.ts'
import { connectorDocument } from './documents/app-document.ts'
import { infoOf } from './documents/info.ts'
import { jsonGuard } from './guards.ts'
import type { Env } from './problem.ts'

/** Which version answered. */
const SERVED = 'x-keyway-connector'

/** What a Response takes; a Buffer is one at run time. */
type Body = ConstructorParameters<typeof Response>[0]

/** A later page may have run on an earlier version: it is not known here on which one it failed. */
const isLaterPage = (error: Error | undefined): boolean =>
  error instanceof RuntimeError && error.details.page !== undefined

/** How a call ended. */
export type CallEnd = {
  connector: string
  capability: string
  /** Both are names that there are; else they are the caller's, who may invent any number of them. */
  known: boolean
  /** Null for an answer. */
  error: RuntimeError | null
  seconds: number
}

type Served = { id: string; version: string; digest: string; manifest: Manifest }

export type ConnectorRoutesDeps = {
  connectorsPath: string
  ids(): string[]
  find(id: string): Served | null
  /** The logo of a version as an address, or null where it has none. */
  logo(digest: string): Promise<string | null>
  invoke: Invoke
  /** One finished call. */
  onCall(call: CallEnd): void
}

function endOf(error: Error | undefined): RuntimeError | null {
  if (error === undefined) return null
  return error instanceof RuntimeError ? error : new RuntimeError('internal', error.message)
}

/** Routes below the connectors' path. */
export function connectorRoutes(deps: ConnectorRoutesDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const infos = new Map<string, string>()

  const served = (id: string) => {
    const version = deps.find(id)
    if (!version)
      throw new RuntimeError(
        'connector_unknown',
        `there is no connector ${JSON.stringify(id.slice(0, 64))}`,
      )
    return version
  }

  /** Documents are made once per version. */
  const document = async (
    kind: string,
    { id, version, digest }: Served,
    make: () => unknown,
  ): Promise<Response> => {
    const key = `${kind} ${digest}`
    const text =
      infos.get(key) ?? JSON.stringify({ response: await make(), raw_data: null, page: null })
    infos.set(key, text)
    return new Response(text, {
      headers: { 'content-type': 'application/json', [SERVED]: `${id}@${version}` },
    })
  }

  const info = (id: string) => {
    const version = served(id)
    const { manifest, digest } = version
    return document('info', version, async () =>
      infoOf(manifest, { logoUrl: await deps.logo(digest) }),
    )
  }
  const appInfo = (id: string) => {
    const version = served(id)
    const { manifest } = version
    return document('app_info', version, () => ({
      app_id: manifest.id,
      app_schema: connectorDocument(manifest, { connectorsPath: deps.connectorsPath }),
    }))
  }

  for (const spelling of ['/list-connector-app-ids', '/list_connector_app_ids']) {
    routes.on(['GET', 'POST'], spelling, (c) => c.json({ response: deps.ids() }))
  }

  // A literal segment comes before the parameter that would match it as well.
  routes.use('/:connector_id/:capability', async (c, next) => {
    const id = c.req.param('connector_id')
    const capability = c.req.param('capability')
    c.set('appId', id)
    const begun = performance.now()
    const version = deps.find(id)
    await next()
    const name = normalizeId(capability)
    if (version && !c.res.headers.has(SERVED) && !isLaterPage(c.error)) {
      c.res.headers.set(SERVED, `${version.id}@${version.version}`)
    }
    deps.onCall({
      connector: version?.id ?? id.slice(0, 64),
      capability: name.slice(0, 64),
      known: version !== null && isCapability(name),
      error: endOf(c.error),
      seconds: (performance.now() - begun) / 1000,
    })
  })
  routes.on(['GET', 'POST'], '/:connector_id/info', (c) => info(c.req.param('connector_id')))
  for (const spelling of ['/:connector_id/app_info', '/:connector_id/app-info']) {
    routes.post(spelling, jsonGuard, async (c) => {
      await readBody(c)
      return appInfo(c.req.param('connector_id') ?? '')
    })
  }

  routes.post('/:connector_id/:capability', jsonGuard, async (c) => {
    const { connector_id: connectorId, capability } = c.req.param()
    const answer: Answer = await deps.invoke({
      connectorId,
      capability,
      text: await readBody(c),
      requestId: c.get('requestId'),
      signal: c.req.raw.signal,
    })
    return new Response(answer.body as Body, {
      headers: { 'content-type': 'application/json', [SERVED]: answer.served },
    })
  })
  routes.all('/:connector_id/:capability', (c) => {
    const allowed = c.req.param('capability') === 'info' ? 'GET, POST' : 'POST'
    c.header('allow', allowed)
    throw new RuntimeError('method_wrong', `${c.req.method} is not served here; send ${allowed}`)
  })
  return routes
}
