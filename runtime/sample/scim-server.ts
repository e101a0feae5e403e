/**
 * A SCIM 2.0 server with a sample directory, for trying out the SCIM connector without another service.
 * SCIMMY implements the protocol. This file connects it with the entries.
 *
 * `node runtime/sample/scim-server.ts [PORT]` serves it and prints one line of JSON.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import express, { type Request } from 'express'
import SCIMMY from 'scimmy'
import SCIMMYRouters from 'scimmy-routers'
import {
  createDirectory,
  type Directory,
  type DirectoryEntry,
  leaveGroups,
  membersOf,
} from './directory.ts'
import { SAMPLE_TENANTS, SAMPLE_TOKEN } from './tenants.ts'

/** The sample must be reachable only from this machine, because its token is public. */
const LOOPBACK = ['127.0.0.1', '::1']

/** A started sample. */
export type SampleDirectory = {
  /** Value of `base_url` for the SCIM connector, for the main tenant. */
  baseUrl: string
  close(): Promise<void>
}

/**
 * Starts a sample directory with 250 people in every tenant, reset at every start. Port 0 selects any free
 * port.
 *
 * @throws Error if the host is not a loopback address, or the port is in use
 */
export async function startSampleDirectory({
  port = 0,
  host = '127.0.0.1',
}: {
  port?: number
  host?: string
}): Promise<SampleDirectory> {
  if (!LOOPBACK.includes(host)) throw new Error(`The sample listens on loopback only, not ${host}`)
  const app = express()
  app.disable('x-powered-by')
  for (const path of ['/scim', ...SAMPLE_TENANTS.map((tenant) => `/${tenant}/scim`)]) {
    const directory = createDirectory()
    app.use(
      path,
      keepQuery,
      new SCIMMYRouters({ type: 'bearer', handler: authenticate, context: () => directory }),
    )
  }
  const server = app.listen(port, host)
  await once(server, 'listening')
  const at = server.address()
  if (at === null || typeof at === 'string') throw new Error('the sample listens on no port')
  const name = host.includes(':') ? `[${host}]` : host
  return {
    baseUrl: `http://${name}:${at.port}/scim`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Throws to make SCIMMY answer 401. */
function authenticate(request: Request): string {
  if (request.headers.authorization !== `Bearer ${SAMPLE_TOKEN}`) {
    throw new Error(`The bearer token is not ${SAMPLE_TOKEN}`)
  }
  return 'sample'
}

/**
 * Replaces `query` by a plain object: in Express 5 each access to it returns a new one, but SCIMMY's routers
 * write the numbers of `startIndex` and `count` into it.
 */
function keepQuery(request: Request, _reply: unknown, next: () => void): void {
  Object.defineProperty(request, 'query', { value: { ...request.query }, writable: true })
  next()
}

type Kind = 'users' | 'groups'
type Constraints = { sortBy?: string; startIndex?: number; count?: number; totalResults?: number }
type Resource = {
  id?: string
  filter?: { match(entries: DirectoryEntry[]): DirectoryEntry[] }
  constraints?: Constraints
}

const ScimError = SCIMMY.Types.Error

/**
 * Declares a resource type. SCIMMY has one declaration per process; each server passes its own directory as
 * the context.
 */
function declare(type: ResourceType, kind: Kind, unique: string): void {
  SCIMMY.Resources.declare(type)
    .ingress((resource: Resource, data: DirectoryEntry, directory: Directory) =>
      store(directory, kind, unique, resource.id, plain(data)),
    )
    .egress((resource: Resource, directory: Directory) => {
      const { id, filter } = resource
      const show = (entry: DirectoryEntry) => shown(directory, kind, entry)
      if (id !== undefined) return show(entryOf(directory, kind, id))
      const all = [...directory[kind].values()]
      if (filter !== undefined) return filter.match(all.map(show))
      return pageOf(all, resource).map(show)
    })
    .degress(({ id = '' }: Resource, directory: Directory) => {
      entryOf(directory, kind, id)
      directory[kind].delete(id)
      leaveGroups(directory, id)
    })
}

type ResourceType = typeof SCIMMY.Types.Resource
SCIMMY.Resources.User.extend(SCIMMY.Schemas.EnterpriseUser, false)
// The cast: the library's types of these two resources do not match its type of resources in general.
const { User, Group } = SCIMMY.Resources as unknown as Record<'User' | 'Group', ResourceType>
declare(User, 'users', 'userName')
declare(Group, 'groups', 'displayName')

/** Number of entries that SCIMMY returns if the request has no `count`. */
const DEFAULT_COUNT = 20

/**
 * Returns only the entries of the requested page: SCIMMY creates a resource from each entry before it drops
 * those of other pages, some 60 ms for 250 people. SCIMMY drops nothing from a list that is not longer than
 * the number of entries before the page. For other pages, and if it must sort, it receives all entries.
 */
function pageOf(all: DirectoryEntry[], resource: Resource): DirectoryEntry[] {
  const { sortBy, startIndex = 1, count = DEFAULT_COUNT } = resource.constraints ?? {}
  const before = startIndex - 1
  if (sortBy !== undefined || (before > 0 && before < count)) return all
  resource.constraints = { ...resource.constraints, totalResults: all.length }
  return all.slice(before, before + count)
}

function store(
  directory: Directory,
  kind: Kind,
  unique: string,
  id: string | undefined,
  data: DirectoryEntry,
): DirectoryEntry {
  const entries = directory[kind]
  const key = (entry: DirectoryEntry) => String(entry[unique]).toLowerCase()
  const taken = [...entries.values()].some((one) => one.id !== id && key(one) === key(data))
  if (taken) throw new ScimError(409, 'uniqueness', `${unique} is already taken`)
  const now = new Date().toISOString()
  const old = id === undefined ? undefined : entryOf(directory, kind, id)
  const entry: DirectoryEntry = {
    ...(kind === 'users' ? { active: true } : { members: [] }),
    ...data,
    id: id ?? `${kind[0]}-${++directory.nextId}`,
    meta: { ...(old?.['meta'] ?? { created: now }), lastModified: now },
  }
  // Attributes that are read-only in SCIM are computed when an entry is returned.
  delete entry['groups']
  entries.set(entry.id, entry)
  return shown(directory, kind, entry)
}

function entryOf(directory: Directory, kind: Kind, id: string): DirectoryEntry {
  const entry = directory[kind].get(id)
  if (entry === undefined) throw new ScimError(404, '', `Resource ${id} not found`)
  return entry
}

/** Returns a copy, because SCIMMY writes into it. A user has the groups of which they are a member. */
function shown(directory: Directory, kind: Kind, entry: DirectoryEntry): DirectoryEntry {
  const copy = structuredClone(entry)
  if (kind === 'groups') return copy
  const groups = [...directory.groups.values()]
    .filter((group) => membersOf(group).some((member) => member.value === entry.id))
    .map((group) => ({ value: group.id, display: group['displayName'], type: 'direct' }))
  return { ...copy, groups }
}

/** Converts SCIMMY's own objects to plain data. */
const plain = (data: DirectoryEntry): DirectoryEntry => JSON.parse(JSON.stringify(data))

if (import.meta.main && isMainThread) {
  const { baseUrl } = await startSampleDirectory({ port: Number(process.argv[2] ?? 0) })
  process.stdout.write(`${JSON.stringify({ baseUrl, token: SAMPLE_TOKEN })}\n`)
}

// In its own thread (sample-thread.ts): SCIMMY takes a tenth of a millisecond or more for every entry that it
// returns.
if (parentPort && workerData?.samplePort !== undefined) {
  const { baseUrl } = await startSampleDirectory({ port: workerData.samplePort })
  parentPort.postMessage(baseUrl)
}
