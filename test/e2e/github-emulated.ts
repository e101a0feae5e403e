/** How the GitHub emulator differs from GitHub. */
import type { Deviation, Mend } from '../described/recorder.ts'
import { json } from '../described/recorder.ts'

export const DEVIATIONS: readonly Deviation[] = [
  {
    operation: 'GET /orgs/{org}',
    finding: /archived_at|\/(company|location|email|blog) must/,
    why: 'the description knows only organisations that have filled in everything, GitHub does not',
  },
  {
    operation: 'GET /orgs/{org}/teams',
    finding: /required property '(parent|type)'$/,
    why: 'it leaves out the parents of teams that have none, and their type',
  },
  {
    operation: 'GET /orgs/{org}/teams/{team_slug}',
    finding:
      /required property '(type|created_at|updated_at|members_count|repos_count|organization)'$/,
    why: 'it answers one team as it answers a list of them',
  },
  {
    operation: 'GET /orgs/{org}/repos',
    finding: /\/owner must have required property '(gravatar_id|\w+_url)'$/,
    why: 'it leaves out addresses of owners',
  },
]

/** Roles that were granted in repositories, by `address login`. */
const granted = new Map<string, string>()

const ROLES: Record<string, string> = { pull: 'read', push: 'write' }

export const MENDS: readonly Mend[] = [
  {
    operation: /^GET \/orgs\/acme\/outside_collaborators$/,
    why: 'it knows no outside collaborators: there are none',
    answer: async () => json(200, []),
  },
  {
    operation: /^GET \/orgs\/acme\/organization-roles$/,
    why: 'it knows no organisation roles: there are none',
    answer: async () => json(200, { total_count: 0, roles: [] }),
  },
  {
    operation: /^GET \/orgs\/acme\/repos$/,
    why: 'it has no list of an organisation’s repositories: they are read one by one',
    async answer(_request, forward) {
      const all = await Promise.all(
        ['api', 'web'].map((name) => forward({ target: `/repos/acme/${name}` })),
      )
      return json(
        200,
        all.map(({ body }) => JSON.parse(body)),
      )
    },
  },
  {
    operation: /^PUT \/repos\/acme\/\w+\/collaborators\/\w+$/,
    why: 'it answers 201 as for an invitation, without one: a member gets 204',
    async answer(request, forward) {
      const reply = await forward()
      granted.set(request.target, JSON.parse(request.body).permission)
      return reply.status === 201 ? { status: 204, headers: {}, body: '' } : reply
    },
  },
  {
    operation: /^GET \/repos\/acme\/\w+\/collaborators$/,
    why: 'it lists collaborators without their roles: filled in from what was granted',
    async answer(request, forward) {
      const reply = await forward()
      if (reply.status !== 200) return reply
      const users = JSON.parse(reply.body) as { login: string }[]
      const address = request.target.replace(/\?.*/, '')
      return json(
        reply.status,
        users.map((user) => {
          const permission = granted.get(`${address}/${user.login}`) ?? ''
          return { ...user, role_name: ROLES[permission] ?? permission }
        }),
      )
    },
  },
]
