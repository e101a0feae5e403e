/** A sample SCIM directory that tests can stop, with the body that connects an app to it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type SampleDirectory, startSampleDirectory } from '../../runtime/sample/scim-server.ts'

export type Directory = {
  /** Host and port, for the egress grant. */
  host: string
  /** Body of POST /apps, with the right token. */
  app: { app_class_id: string; auth: { token: string }; settings: { base_url: string } }
  close(): Promise<void>
}

export async function startDirectory(): Promise<Directory> {
  const sample: SampleDirectory = await startSampleDirectory({})
  return {
    host: new URL(sample.baseUrl).host,
    app: {
      app_class_id: 'scim',
      auth: { token: 'sample-token' },
      settings: { base_url: sample.baseUrl },
    },
    close: sample.close,
  }
}

export type SlowDirectory = Directory & {
  /** The Authorization header of each request so far. */
  asked: (string | undefined)[]
  /** Makes replies wait until `release` is called. */
  hold(): {
    /** Resolves when a request is waiting for its reply. */
    asked: Promise<void>
    release(): void
  }
}

/** An empty directory whose replies can be delayed. */
export async function startSlowDirectory(): Promise<SlowDirectory> {
  let gate: Promise<void> = Promise.resolve()
  let onAsked = () => {}
  const list = { schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'], totalResults: 0 }
  const asked: (string | undefined)[] = []
  const server = createServer(async (request, reply) => {
    asked.push(request.headers.authorization)
    onAsked()
    await gate
    reply.setHeader('content-type', 'application/scim+json')
    reply.end(JSON.stringify({ ...list, Resources: [] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    asked,
    app: {
      app_class_id: 'scim',
      auth: { token: 'any-token-at-all' },
      settings: { base_url: `http://${host}/scim` },
    },
    hold() {
      const held = Promise.withResolvers<void>()
      const asked = Promise.withResolvers<void>()
      gate = held.promise
      onAsked = asked.resolve
      return { asked: asked.promise, release: held.resolve }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
