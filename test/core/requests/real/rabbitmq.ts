/** A tag in a real RabbitMQ broker. */
import { installSystem, missing } from '../../../real-systems/start.ts'
import type { RealAccess } from './paths.ts'

const TAG = 'monitoring'

const tools = missing('apt-get', 'dpkg')
const installed =
  tools === null
    ? await installSystem<{ username: string; password: string }>('rabbitmq')
    : { why: tools }

/** Why there is no broker here, or null. */
export const why = 'why' in installed ? installed.why : null

export async function startRabbitMq(): Promise<RealAccess> {
  if ('why' in installed) throw new Error(installed.why)
  const { baseUrl, auth, stop } = await installed.system.start()
  const { username, password } = auth
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const user = (name: string, init: RequestInit = {}) =>
    fetch(`${baseUrl}/users/${encodeURIComponent(name)}`, {
      ...init,
      headers: { authorization, 'content-type': 'application/json' },
    })
  const write = async (name: string, tags: string) => {
    const reply = await user(name, {
      method: 'PUT',
      body: JSON.stringify({ password_hash: '', tags }),
    })
    if (!reply.ok) throw new Error(`The broker answered ${reply.status}`)
  }
  return {
    egress: `rabbitmq=${new URL(baseUrl).host}`,
    app: {
      app_class_id: 'rabbitmq',
      auth: { username, password },
      settings: { base_url: baseUrl },
    },
    label: TAG,
    async holds(email) {
      const reply = await user(email)
      if (reply.status === 404) return false
      const { tags } = (await reply.json()) as { tags: string[] | string }
      return [tags].flat().includes(TAG)
    },
    give: (email) => write(email, TAG),
    take: (email) => write(email, ''),
    stop,
  }
}
