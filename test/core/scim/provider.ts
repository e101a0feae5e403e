/** A host, and an identity provider that pushes to it. */
import { SCIM_URNS } from '../../../runtime/contract/models/scim.ts'
import { type CoreHost, type Reply, startCore } from '../host.ts'

export type Provider = Awaited<ReturnType<typeof startProvider>>

export async function startProvider() {
  const core: CoreHost = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  await core.host.settled
  const { token } = (await core.call('POST', '/scim_tokens', { body: { name: 'Okta' } })).body

  const scim = (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ) =>
    core.call(method, `/scim/v2${path}`, {
      token,
      ...(body === undefined ? {} : { raw: JSON.stringify(body) }),
      headers: { 'content-type': 'application/scim+json', ...headers },
    })
  async function made(path: string, body: object): Promise<string> {
    const reply = await scim('POST', path, body)
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return reply.body.id
  }
  return {
    core,
    token,
    scim,
    patch: (path: string, ...Operations: object[]) =>
      scim('PATCH', path, { schemas: [SCIM_URNS.patch], Operations }),
    found: async (filter: string, what = 'Users') =>
      (await scim('GET', `/${what}?filter=${encodeURIComponent(filter)}`)).body,
    user: (userName: string, more: object = {}) => made('/Users', { userName, ...more }),
    group: (displayName: string, ids: readonly string[] = []) =>
      made('/Groups', { displayName, members: ids.map((value) => ({ value })) }),
    /** Imports people from a file, as an operator does. */
    async imported(csv: string): Promise<void> {
      const more = { raw: csv, headers: { 'content-type': 'text/csv' } }
      const reply = await core.call('POST', '/operator/users/import', more)
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
    },
    /** The states of the offboardings of a person. */
    async offboardings(id: string): Promise<string[]> {
      const path = '/lifecycle-management/user-offboardings?size=100'
      const { items } = (await core.call('GET', path)).body
      return items.flatMap((one: { user_id: string; status: string }) =>
        one.user_id === id ? [one.status] : [],
      )
    },
    /** Entries of the activity log. */
    logged: async (type: string) =>
      (await core.call('GET', `/activity_logs?event_type=${type}&limit=100`)).body.items,
  }
}

/** The status and the scimType of a refusal. */
export const refusal = ({ status, body }: Reply) => [status, body?.scimType]
