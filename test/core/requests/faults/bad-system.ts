/** A third-party system that misbehaves on command, and the connector that calls it. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { code, manifest } from '../../../fixtures/folders.ts'

/**
 * How a call ends:
 * - before, after: 500, before or after the work is done;
 * - lie: success, but the work is not done;
 * - refused: 400;
 * - hang: the work is done, but no answer is sent;
 * - cut: the work is done, and the connection is closed without an answer;
 * - away: 503, and the work is not done;
 * - denied: 401.
 */
export type End =
  | 'well'
  | 'before'
  | 'after'
  | 'lie'
  | 'refused'
  | 'hang'
  | 'cut'
  | 'away'
  | 'denied'

/** Ends of calls that were not carried out. */
const NOT_DONE: readonly End[] = ['before', 'refused', 'lie', 'away', 'denied']

/** The status of a failed call; without an entry it follows from the result. */
const STATUS: Partial<Record<End, number>> = {
  before: 500,
  after: 500,
  refused: 400,
  away: 503,
  denied: 401,
}

export type BadSystem = Awaited<ReturnType<typeof startBadSystem>>

const CAPABILITIES = [
  'list_accounts',
  'get_account',
  'get_account_entitlement_associations',
  'create_account',
  'activate_account',
  'deactivate_account',
  'assign_entitlement',
  'unassign_entitlement',
] as const
export type Name = (typeof CAPABILITIES)[number]
type CapabilityRequest = Record<string, string>

const CREATED = { status: 'ACTIVE', created: true, id: null }

/** `showsAfterMs`: delay until reads show a write. `deadlineMs`: the connector's deadline for a call. */
export async function startBadSystem({
  consistencyMs = 0,
  showsAfterMs = 0,
  deadlineMs = 2000,
} = {}) {
  const accounts = new Map<string, { email: string; status: string; atMs: number }>()
  const held = new Map<string, { atMs: number }>()
  /** Additional fields of listed accounts, by account id. */
  const extra = new Map<string, object>()
  const listing: { of: (() => unknown[]) | null } = { of: null }
  const calls: Name[] = []
  /** The path of each call. */
  const paths: string[] = []
  let ends: (name: Name) => End | Promise<End> = () => 'well'
  let retryAfterSeconds = 0
  let createdId: string | null = null
  let returnsId = true
  const isShown = ({ atMs }: { atMs: number }) => performance.now() - atMs >= showsAfterMs
  const now = () => ({ atMs: performance.now() })

  const HANDLERS: Record<Name, (request: CapabilityRequest) => unknown> = {
    list_accounts: () =>
      listing.of?.() ??
      [...accounts]
        .filter(([, one]) => isShown(one))
        .map(([id, { email, status }]) => ({
          integration_specific_id: id,
          email,
          user_status: status,
          ...extra.get(id),
        })),
    get_account: ({ account_id = '' }) => {
      const one = accounts.get(account_id)
      return one && { integration_specific_id: account_id, user_status: one.status }
    },
    get_account_entitlement_associations: ({ account_id = '' }) =>
      [...held]
        .filter(([key, one]) => key.startsWith(`${account_id} `) && isShown(one))
        .map(([key]) => ({
          account_id,
          integration_specific_entitlement_id: key.split(' ')[1],
          integration_specific_resource_id: '',
        })),
    create_account: ({ email = '' }) => {
      const id = createdId ?? `account-${accounts.size + 1}`
      accounts.set(id, { email, status: 'ACTIVE', ...now() })
      return { ...CREATED, id: returnsId ? createdId : null }
    },
    activate_account: ({ account_id = '' }) => setStatus(account_id, 'ACTIVE'),
    deactivate_account: ({ account_id = '' }) => setStatus(account_id, 'SUSPENDED'),
    assign_entitlement: (request) => {
      held.set(keyOf(request), now())
      return { assigned: true }
    },
    unassign_entitlement: (request) => {
      held.delete(keyOf(request))
      return { unassigned: true }
    },
  }
  /** Answers of calls that end with `lie`. */
  const LIES: Partial<Record<Name, unknown>> = {
    create_account: CREATED,
    assign_entitlement: { assigned: true },
    unassign_entitlement: { unassigned: true },
    activate_account: { status: 'ACTIVE', activated: true },
    deactivate_account: { status: 'SUSPENDED', deactivated: true },
  }
  const keyOf = (request: CapabilityRequest) =>
    `${request['account_integration_specific_id']} ${request['entitlement_integration_specific_id']}`
  function setStatus(id: string, status: string): unknown {
    const one = accounts.get(id)
    if (!one) return undefined
    accounts.set(id, { ...one, status })
    return status === 'ACTIVE' ? { status, activated: true } : { status, deactivated: true }
  }

  const server = createServer(async (request, reply) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const url = new URL(request.url ?? '', 'http://system')
    // Every path prefix serves the same data.
    const name = url.pathname.slice(url.pathname.lastIndexOf('/') + 1) as Name
    text ||= url.searchParams.get('request') ?? '{}'
    calls.push(name)
    paths.push(url.pathname)
    const end = await ends(name)
    const done = NOT_DONE.includes(end) ? undefined : HANDLERS[name](JSON.parse(text))
    if (end === 'hang') return
    if (end === 'cut') return void reply.destroy()
    const status = STATUS[end] ?? (end !== 'lie' && done === undefined ? 404 : 200)
    const asked = end === 'away' && retryAfterSeconds > 0
    reply.writeHead(status, {
      'content-type': 'application/json',
      ...(asked ? { 'retry-after': String(retryAfterSeconds) } : {}),
    })
    reply.end(JSON.stringify((end === 'lie' ? LIES[name] : done) ?? []))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`

  const folder = await mkdtemp(path.join(tmpdir(), 'keyway-bad-'))
  const connectorDir = path.join(folder, 'bad')
  await mkdir(connectorDir)
  const files = {
    'connector.json': JSON.stringify(
      manifest('bad', {
        settings: { base_url: { type: 'string', format: 'url', required: true } },
        egress: [{ url: '{settings.base_url}' }],
        capabilities: Object.fromEntries(CAPABILITIES.map((one) => [one, {}])),
        entitlement_types: [
          { type_id: 'GROUP', type_label: 'Group', resource_type_id: '', min: 0 },
        ],
        limits: { deadline_ms: deadlineMs },
        ...(consistencyMs > 0 ? { consistency_ms: consistencyMs } : {}),
      }),
    ),
    'connector.ts': code(
      CAPABILITIES.map((one) => `${one}: (request, ctx) => ask('${one}', request, ctx),`).join(
        '\n',
      ),
      `import { ConnectorError } from 'keyway/sdk'
      async function ask(name: string, request: unknown, ctx: any) {
        const input = JSON.stringify(request)
        const read = /^(get|list)/.test(name)
        const url = ctx.settings.base_url + '/' + name + (read ? '?request=' + encodeURIComponent(input) : '')
        const reply = await ctx.fetch(url, read ? {} : { method: 'POST', body: input })
        if (!reply.ok) throw await ConnectorError.from(reply)
        return await reply.json()
      }`,
    ),
  }
  for (const [file, content] of Object.entries(files))
    await writeFile(path.join(connectorDir, file), content)

  return {
    accounts,
    extra,
    /** Replaces the list of accounts when it is set. */
    listing,
    held,
    calls,
    paths,
    connectorDir,
    host,
    env: {
      KEYWAY_DROP_IN: 'open',
      KEYWAY_PLUGINS_DIR: folder,
      KEYWAY_PRIVATE_EGRESS: `bad=${host}`,
      KEYWAY_REQUESTS_PER_MINUTE: '100000',
    },
    app: {
      app_class_id: 'bad',
      auth: { token: 'a-token' },
      settings: { base_url: `http://${host}` },
    },
    /** Sets how calls end from now on. */
    behave(how: (name: Name) => End | Promise<End>) {
      ends = how
    },
    /**
     * Sets the id of accounts created from now on, and whether the answer contains it. null: a generated
     * id, which only the list shows.
     */
    setCreatedId(id: string | null, isReturned = true) {
      createdId = id
      returnsId = isReturned
    },
    /** Sets the Retry-After of answers that end with `away`. */
    asks(seconds: number) {
      retryAfterSeconds = seconds
    },
    /** Accepts connections, or refuses them. */
    async listens(wanted: boolean): Promise<void> {
      if (wanted === server.listening) return
      if (wanted) {
        const port = Number(host.split(':')[1])
        await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
        return
      }
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    /** Makes the next call of a capability end this way; all others succeed. */
    once(name: Name, end: End | Promise<End>) {
      let over = false
      ends = (one) => {
        if (one !== name || over) return 'well'
        over = true
        return end
      }
    },
    /** Gives an account another id; it keeps its entitlements. */
    rename(from: string, to: string) {
      const one = accounts.get(from)
      if (!one) throw new Error(`there is no account ${from}`)
      accounts.delete(from)
      accounts.set(to, one)
      for (const [key, since] of held) {
        if (!key.startsWith(`${from} `)) continue
        held.delete(key)
        held.set(`${to}${key.slice(from.length)}`, since)
      }
    },
    accountsOf: (email: string) => [...accounts].filter(([, one]) => one.email === email),
    count: (name: Name) => calls.filter((one) => one === name).length,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
