/** An operator of a host in a test: uploads, activates, and calls what was installed. */
import type { CoreHost, Reply } from '../../core/host.ts'
import { type Made, publisher } from './packaging.ts'

export type Listed = { ids: string[]; versions: string[]; failures: unknown[] }

/** Acts on a host as its admin. */
export const operator = (core: CoreHost) => {
  const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
    core.call(method, `/operator${path}`, body === undefined ? {} : { body })

  const upload = (
    { packed, signature }: Pick<Made, 'packed'> & { signature: string | null },
    query = '',
  ): Promise<Reply> =>
    core.call('POST', `/operator/packages${query}`, {
      raw: new Uint8Array(packed),
      headers: {
        'content-type': 'application/gzip',
        ...(signature === null
          ? {}
          : { 'keyway-signature': Buffer.from(signature).toString('base64') }),
      },
    })

  const activate = (made: Pick<Made, 'id' | 'digest'>, more: object = {}): Promise<Reply> =>
    call('POST', `/connectors/${made.id}/activate`, { digest: made.digest, grant: 'all', ...more })

  /** Uploads and activates a package; throws if either is refused. */
  const install = async (made: Made, more: object = {}): Promise<Reply> => {
    const uploaded = await upload(made)
    if (uploaded.status !== 201) throw new Error(JSON.stringify(uploaded.body))
    const activated = await activate(made, more)
    if (activated.status !== 200) throw new Error(JSON.stringify(activated.body))
    return activated
  }

  const trustPublisher = (): Promise<Reply> =>
    call('POST', '/publishers', { name: 'Acme Inc.', public_key: publisher.publicKey })

  const ask = (id: string, capability: string, envelope: object = {}): Promise<Reply> =>
    core.call('POST', `/connectors/${id}/${capability}`, {
      body: {
        request: {},
        auth: { token: { token: 'a-tenants-token' } },
        settings: {},
        ...envelope,
      },
    })

  return { call, upload, activate, install, trustPublisher, ask }
}
