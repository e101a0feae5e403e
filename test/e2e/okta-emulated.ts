/** How the Okta emulator differs from Okta. */
import { type Deviation, json, type Mend, type Reply } from '../described/recorder.ts'

/** Okta returns no body for these. */
const LIFECYCLE = ['suspend', 'unsuspend', 'deactivate'] as const

export const DEVIATIONS: readonly Deviation[] = [
  ...LIFECYCLE.map((step) => ({
    operation: `POST /api/v1/users/{userId}/lifecycle/${step}`,
    finding: /^answer should have no body$/,
    why: `it answers ${step} with the user`,
  })),
  {
    operation: 'GET /api/v1/users',
    finding: /^query (page|per_page) is not known$/,
    why: 'it pages by number and size, and says so in its links',
  },
  {
    operation: 'GET /api/v1/users',
    finding: /^answer\/\d+\/(lastLogin|passwordChanged|activated|profile)\b.* must be string$/,
    why: 'dates that have not come yet are null, as they are at Okta: the description has no null',
  },
  {
    operation: 'GET /api/v1/users/{userId}',
    finding: /^answer\/(lastLogin|passwordChanged|activated) must be string$/,
    why: 'the same of one user',
  },
  {
    operation: 'GET /api/v1/groups/{groupId}/users',
    finding: /^answer\/\d+\/(lastLogin|passwordChanged|activated) must be string$/,
    why: 'the same of members of groups',
  },
  {
    operation: 'POST /api/v1/users/{userId}',
    finding: /^answer\/(lastLogin|passwordChanged|activated) must be string$/,
    why: 'the same of a user who was changed',
  },
  {
    operation: 'POST /api/v1/users',
    finding: /^answer 201 is not described$/,
    why: 'it answers 201 where Okta says 200',
  },
  {
    operation: 'DELETE /api/v1/users/{userId}',
    finding: /^answer 204 is not described$/,
    why: 'it answers 204, as Okta does: the description says 202',
  },
  {
    operation: 'GET /api/v1/users/{userId}/groups',
    finding: /^query limit is not known$/,
    why: 'Okta pages groups of a user, too; this version of the description does not say so',
  },
  {
    operation: 'GET /api/v1/apps/{appId}/users',
    finding: /\/profile\/\w+ must be object$/,
    why: 'the description has profiles of objects; values are texts',
  },
  {
    operation: 'POST /api/v1/apps/{appId}/users/{userId}',
    finding: /\/profile\/\w+ must be object$/,
    why: 'the same of a profile that is changed',
  },
  {
    operation: 'GET /api/v1/apps/{appId}/users/{userId}',
    finding: /\/profile\/\w+ must be object$/,
    why: 'the same of one profile',
  },
]

type Profile = Record<string, unknown>
type AppUser = { id: string; scope: string; profile: Profile }

/** Profiles that were written for users of applications, by address. */
const profiles = new Map<string, Profile>()

const notFound = (what: string): Reply =>
  json(404, {
    errorCode: 'E0000007',
    errorSummary: `Not found: Resource not found: ${what}`,
    errorLink: 'E0000007',
    errorId: 'e-1',
    errorCauses: [],
  })

const SUPPORT = {
  id: '00g_sup',
  priority: 0,
  _embedded: { group: { id: '00g_sup', type: 'OKTA_GROUP', profile: { name: 'Support' } } },
}

const schema = (properties: object) =>
  json(200, {
    id: 'https://okta.example/meta/schemas',
    type: 'object',
    definitions: {
      base: { id: '#base', type: 'object', properties: {} },
      custom: { id: '#custom', type: 'object', properties },
    },
  })

const event = (uuid: string, target: object[]) => ({
  uuid,
  eventType: 'application.user_membership.add',
  published: '2026-01-02T03:04:05.678Z',
  displayMessage: 'Add user to application membership',
  actor: { id: '00u1', type: 'User', displayName: 'Ada', alternateId: 'ada@example.com' },
  outcome: { result: 'SUCCESS' },
  target,
})
const LOG = [
  event('e-1', [{ id: '0oa_crm', type: 'AppInstance', displayName: 'CRM' }]),
  event('e-2', [{ id: '00u2', type: 'User', displayName: 'Bob' }]),
]

export const MENDS: readonly Mend[] = [
  {
    operation: /^GET \/api\/v1\/logs$/,
    why: 'it has no log: two events',
    async answer({ target }) {
      const filtered = new URL(target, 'http://okta').searchParams.has('filter')
      return json(200, filtered ? LOG.slice(0, 1) : LOG)
    },
  },
  {
    operation: /^GET \/api\/v1\/meta\/schemas\/user\/default$/,
    why: 'it has no schema of users: one attribute',
    answer: async () => schema({ locale: { title: 'Locale', type: 'string' } }),
  },
  {
    operation: /^GET \/api\/v1\/meta\/schemas\/apps\/\w+\/default$/,
    why: 'it has no schemas of applications: the CRM has two attributes to choose from',
    answer: async ({ target }) =>
      target.includes('0oa_crm')
        ? schema({
            role: { title: 'Role', type: 'string', enum: ['agent', 'admin'] },
            regions: {
              title: 'Regions',
              type: 'array',
              items: { type: 'string', enum: ['north', 'south'] },
            },
          })
        : notFound('schema'),
  },
  {
    operation: /^GET \/api\/v1\/apps\/\w+\/groups$/,
    why: 'it assigns no groups to applications: the CRM is assigned to one',
    answer: async ({ target }) => json(200, target.includes('0oa_crm') ? [SUPPORT] : []),
  },
  {
    operation: /^GET \/api\/v1\/apps\/\w+\/groups\/\w+$/,
    why: 'the same of one group',
    answer: async ({ target }) =>
      target.endsWith('/0oa_crm/groups/00g_sup') ? json(200, SUPPORT) : notFound('group'),
  },
  {
    operation: /^POST \/api\/v1\/apps\/\w+\/users$/,
    why: 'it assigns by PUT of an address that Okta does not have',
    async answer({ target, body }, forward) {
      const { id } = JSON.parse(body) as { id: string }
      const reply = await forward({ method: 'PUT', target: `${target}/${id}`, body: '' })
      return reply.status === 204 ? json(200, { id, scope: 'USER', status: 'ACTIVE' }) : reply
    },
  },
  {
    operation: /^GET \/api\/v1\/apps\/\w+\/users$/,
    why: 'it answers users of applications with their whole profiles, and not those of the application',
    async answer({ target }, forward) {
      const reply = await forward()
      if (reply.status !== 200) return reply
      const address = target.replace(/\?.*/, '')
      const users = JSON.parse(reply.body) as AppUser[]
      return json(
        200,
        users.map((user) => ({ ...user, profile: profiles.get(`${address}/${user.id}`) ?? {} })),
      )
    },
  },
  {
    operation: /^GET \/api\/v1\/apps\/\w+\/users\/\w+$/,
    why: 'it cannot read one user of an application: looked up in the list',
    async answer({ target }, forward) {
      const [, list = '', id] = /^(.*)\/(\w+)$/.exec(target) ?? []
      const reply = await forward({ target: list })
      if (reply.status !== 200) return reply
      const found = (JSON.parse(reply.body) as AppUser[]).find((user) => user.id === id)
      return found ? json(200, { ...found, profile: profiles.get(target) ?? {} }) : notFound('user')
    },
  },
  {
    operation: /^POST \/api\/v1\/apps\/\w+\/users\/\w+$/,
    why: 'it keeps no profiles of applications: kept here',
    async answer({ target, body }) {
      const { profile } = JSON.parse(body) as { profile: Profile }
      profiles.set(target, { ...profiles.get(target), ...profile })
      return json(200, { id: target.split('/').at(-1), scope: 'USER', status: 'ACTIVE' })
    },
  },
]
