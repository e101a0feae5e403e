/** The connector interface: discovery, documents, capabilities (service.md section 4.1). */
import { type Context, Hono } from 'hono'
import { isCapability } from '../../contract/capabilities/capabilities.ts'
import { type Manifest, normalizeId } from '../../contract/connector/manifest.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { Invoke } from '../../invoke/invoke.ts'
import type { CallEnd } from '../../invoke/ports.ts'
import { unknownConnector } from '../../invoke/route.ts'
import { connectorDocument } from '../documents/app-document.ts'
import { infoOf } from '../documents/info.ts'
import { readBody } from '../edge/body.ts'
import type { Env } from '../edge/env.ts'
import { exhausted } from '../edge/exhausted-resources.ts'
import { jsonCheck, wrongMethod } from '../edge/guards.ts'
import { REQUEST_ID } from '../edge/request-id.ts'

/** Header that names the version that answered. */
export const SERVED = 'x-keyway-connector'
/** Header with the generation that this host serves. */
export const GENERATION = 'x-keyway-generation'

/** Body of a Response. A Buffer is one at run time. */
type Body = ConstructorParameters<typeof Response>[0]

/**
 * Reports whether the error is of a later page. It may have run on an earlier version, so the failing version
 * is not known here.
 */
export const isLaterPage = (error: unknown): boolean =>
  error instanceof RuntimeError && error.details.page !== undefined

type Served = { id: string; version: string; digest: string; manifest: Manifest }

export type ConnectorRoutesDeps = {
  connectorsPath: string
  ids(): string[]
  find(id: string): Served | null
  /** Whether connectors are being looked up. If so, an unknown connector may appear in a moment. */
  isLooking(): boolean
  /** Returns the address of a version's logo, or null if it has none. */
  logo(digest: string): Promise<string | null>
  invoke: Invoke
  /** Number of the served generation. */
  generation(): number
  /** Called after each finished call. */
  onCall(call: CallEnd): void
}

/** Returns the error as which a failed call is recorded. */
export function endOf(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error
  return exhausted(error) ?? new RuntimeError('internal', String(error))
}

/** Creates the routes below the connectors' path. */
export function connectorRoutes(deps: ConnectorRoutesDeps): Hono<Env> {
  const routes = new Hono<Env>()
  const infos = new WeakMap<Manifest, Map<string, string>>()

  /**
   * Returns an answer whose headers stay a plain object, because they are written to the socket unchanged.
   */
  const answer = (c: Context<Env>, body: string | Buffer, served: string): Response =>
    // The cast: the type also allows shared memory, which none of our buffers is.
    new Response(body as Body, {
      headers: {
        'content-type': 'application/json',
        [REQUEST_ID]: c.get('requestId'),
        [SERVED]: served,
        [GENERATION]: String(deps.generation()),
      },
    })

  const served = (id: string) => {
    const version = deps.find(id)
    if (!version) throw unknownConnector(id, deps.isLooking())
    return version
  }

  /** Each document is made once per version and its grants. */
  const document = async (
    c: Context<Env>,
    kind: string,
    { id, version, manifest }: Served,
    make: () => unknown,
  ): Promise<Response> => {
    const made = infos.get(manifest) ?? new Map<string, string>()
    infos.set(manifest, made)
    const text =
      made.get(kind) ?? JSON.stringify({ response: await make(), raw_data: null, page: null })
    made.set(kind, text)
    return answer(c, text, `${id}@${version}`)
  }

  const info = (c: Context<Env>, id: string) => {
    const version = served(id)
    const { manifest, digest } = version
    return document(c, 'info', version, async () =>
      infoOf(manifest, { logoUrl: await deps.logo(digest) }),
    )
  }
  const appInfo = (c: Context<Env>, id: string) => {
    const version = served(id)
    const { manifest } = version
    return document(c, 'app_info', version, () => ({
      app_id: manifest.id,
      app_schema: connectorDocument(manifest, { connectorsPath: deps.connectorsPath }),
    }))
  }

  async function serve(c: Context<Env>, id: string, capability: string): Promise<Response> {
    const { method } = c.req
    const isInfo = capability === 'info'
    if (isInfo && ['GET', 'HEAD', 'POST'].includes(method)) return info(c, id)
    if (method !== 'POST') return wrongMethod(c, isInfo ? 'GET, POST' : 'POST')
    jsonCheck(c)
    const text = await readBody(c)
    if (capability === 'app_info' || capability === 'app-info') return appInfo(c, id)
    const { body, served: by } = await deps.invoke({
      connectorId: id,
      capability,
      text,
      requestId: c.get('requestId'),
      signal: c.req.raw.signal,
    })
    return answer(c, body, by)
  }

  for (const spelling of ['/list-connector-app-ids', '/list_connector_app_ids']) {
    routes.on(['GET', 'POST'], spelling, (c) => {
      c.header(REQUEST_ID, c.get('requestId'))
      return c.json({ response: deps.ids() })
    })
  }

  // Literal paths are registered first, because the parameters would match them too.
  routes.all('/:connector_id/:capability', async (c) => {
    const { connector_id: id, capability } = c.req.param()
    const begun = performance.now()
    const version = deps.find(id)
    // The id as declared, in whichever spelling it was called.
    c.set('appId', version?.id ?? id)
    let error: RuntimeError | null = null
    let by: string | null = null
    try {
      const answered = await serve(c, id, capability)
      by = answered.headers.get(SERVED)
      return answered
    } catch (thrown) {
      error = endOf(thrown)
      if (version && !isLaterPage(thrown)) by = `${version.id}@${version.version}`
      if (by !== null) c.header(SERVED, by)
      c.header(GENERATION, String(deps.generation()))
      throw thrown
    } finally {
      const name = normalizeId(capability)
      deps.onCall({
        connector: version?.id ?? id.slice(0, 64),
        capability: name.slice(0, 64),
        known: version !== null && isCapability(name),
        served: by,
        error,
        requestId: c.get('requestId'),
        seconds: (performance.now() - begun) / 1000,
        cause: { kind: 'interface', id: c.get('requestId') },
        appId: null,
      })
    }
  })
  return routes
}
