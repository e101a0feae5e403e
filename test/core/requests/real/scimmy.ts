/** A group of a third-party SCIM server. */
import { missing, serviceToken, startSystem } from '../../../real-systems/start.ts'
import type { RealAccess } from './paths.ts'

const GROUP = { id: 'g-empty', label: 'Empty' }

type Found = { Resources?: { id: string }[] }

/** Why there is no server here, or null. */
export const why = missing()

export async function startScimmy(): Promise<RealAccess> {
  const system = await startSystem('oidc-scim', { RATE_LIMIT: '1000000' })
  const { baseUrl } = system
  const token = await serviceToken(system, 'scim.read scim.write')

  async function scim(method: string, path: string, body?: object): Promise<unknown> {
    const reply = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}`)
    return reply.status === 204 ? null : reply.json()
  }
  async function accountOf(email: string): Promise<string | undefined> {
    const filter = encodeURIComponent(`userName eq "${email}"`)
    const { Resources = [] } = (await scim('GET', `/Users?filter=${filter}`)) as Found
    return Resources[0]?.id
  }
  const change = (Operations: object[]) =>
    scim('PATCH', `/Groups/${GROUP.id}`, {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations,
    })

  return {
    egress: `scim=${new URL(baseUrl).host}`,
    app: { app_class_id: 'scim', auth: { token }, settings: { base_url: baseUrl } },
    label: GROUP.label,
    async holds(email) {
      const id = await accountOf(email)
      const { members = [] } = (await scim('GET', `/Groups/${GROUP.id}`)) as {
        members?: { value: string }[]
      }
      return members.some(({ value }) => value === id)
    },
    async give(email) {
      const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User']
      const { id } = (await scim('POST', '/Users', {
        schemas,
        userName: email,
        active: true,
      })) as { id: string }
      await change([{ op: 'add', path: 'members', value: [{ value: id }] }])
    },
    async take(email) {
      await change([{ op: 'remove', path: `members[value eq "${await accountOf(email)}"]` }])
    },
    stop: system.stop,
  }
}
