/** A proxy in front of the Slack emulator: it adds what the emulator lacks, and forwards everything else. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Answer = Record<string, unknown>
type Forward = (method: string, parameters: Record<string, string>) => Promise<Answer>
type Mend = (parameters: Record<string, string>, forward: Forward) => Promise<Answer> | Answer

export type Front = {
  /** Origin to call instead of the emulator's. */
  url: string
  /** Methods that were called, in order. */
  calls: string[]
  stop(): Promise<void>
}

/** User groups, by id. Unknown users are refused, as is an empty list. */
function userGroups(groups: Record<string, string[]>): Record<string, Mend> {
  const error = (word: string) => ({ ok: false, error: word })
  return {
    'usergroups.list': ({ include_users }) => ({
      ok: true,
      usergroups: [
        ...Object.entries(groups).map(([id, users]) => ({
          id,
          name: `Group ${id}`,
          handle: id.toLowerCase(),
          date_delete: 0,
          ...(include_users ? { users } : {}),
        })),
        { id: 'S0OLD', name: 'Switched off', handle: 'old', date_delete: 1700000000, users: [] },
      ],
    }),
    'usergroups.users.list': ({ usergroup = '' }) =>
      groups[usergroup] ? { ok: true, users: groups[usergroup] } : error('no_such_subteam'),
    async 'usergroups.users.update'({ usergroup = '', users = '' }, forward) {
      if (!groups[usergroup]) return error('no_such_subteam')
      if (users === '') return error('no_users_provided')
      for (const user of users.split(','))
        if (!(await forward('users.info', { user }))['ok']) return error('invalid_users')
      groups[usergroup] = users.split(',')
      return { ok: true, usergroup: { id: usergroup, users: groups[usergroup] } }
    },
  }
}

const ELSEWHERE: Record<string, Mend> = {
  /** The emulator cannot list the channels of one user; in Slack that is a listing like any other. */
  async 'users.conversations'({ user = '', types = '', limit = '100', cursor = '0' }, forward) {
    const { channels } = (await forward('conversations.list', { types, limit: '1000' })) as {
      channels: { id: string }[]
    }
    const found = []
    for (const channel of channels) {
      const { members } = await forward('conversations.members', { channel: channel.id })
      if ((members as string[]).includes(user)) found.push(channel)
    }
    const end = Number(cursor) + Number(limit)
    const next_cursor = end < found.length ? String(end) : ''
    return {
      ok: true,
      channels: found.slice(Number(cursor), end),
      response_metadata: { next_cursor },
    }
  },
}

/** @param upstream Origin of the emulator. */
export async function startFront(
  upstream: string,
  groups: Record<string, string[]>,
): Promise<Front> {
  const mends: Record<string, Mend> = { ...userGroups(groups), ...ELSEWHERE }
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { authorization = '', 'content-type': type = '' } = request.headers
    const send = (path: string, text: string) =>
      fetch(upstream + path, {
        method: 'POST',
        headers: { authorization, 'content-type': type },
        body: text,
        redirect: 'manual',
      })
    const method = (request.url ?? '').replace(/^\/api\//, '')
    calls.push(method)
    const mend = mends[method]
    if (mend && authorization !== '') {
      const forward: Forward = async (other, parameters) => {
        const reply = await send(`/api/${other}`, new URLSearchParams(parameters).toString())
        return (await reply.json()) as Answer
      }
      const answer = await mend(Object.fromEntries(new URLSearchParams(body)), forward)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      return
    }
    const reply = await send(request.url ?? '/', body)
    response.writeHead(reply.status, {
      'content-type': reply.headers.get('content-type') ?? 'text/plain',
    })
    response.end(await reply.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
