/**
 * `keyway login-link`: an address that lets somebody in to the settings pages once. The running host is
 * asked for it, because the embedded database is that host's alone.
 */
import { type Config, ConfigError, readConfig } from '../config.ts'
import { readKeptSecret } from '../keys.ts'

export type LoginLinkOptions = { email: string; url?: string }

/** How long the host may take for an answer, in milliseconds. */
const PATIENCE_MS = 10_000
/** How long the host's database may take to be there, and the pause between two looks, in milliseconds. */
const DATABASE_PATIENCE_MS = 20_000
const PAUSE_MS = 1000

export async function loginLink(options: LoginLinkOptions): Promise<void> {
  console.log(await newLoginLink(process.env, options))
}

/**
 * Has the host make a link; what to tell of it.
 *
 * @throws ConfigError that says why there is none, and what to do
 */
export async function newLoginLink(
  environment: Readonly<Record<string, string | undefined>>,
  { email, url }: LoginLinkOptions,
): Promise<string> {
  const config = readConfig({ ...environment, ...UNUSED })
  const base = url === undefined ? addressOf(config) : checked(url)
  // Before the token goes anywhere: another program may have the port.
  await expectKeyway(base)
  const reply = await askForLink(base, await operatorToken(config), email)
  const answer = (await reply.json().catch(() => ({}))) as Answer
  if (reply.status === 401 || reply.status === 403) {
    throw new ConfigError(
      `The host at ${base} does not take this operator's token; run this with the KEYWAY_ADMIN_TOKEN or the KEYWAY_DATA_DIR that the host has`,
    )
  }
  if (reply.status !== 201 || answer.path === undefined)
    throw new ConfigError(`No link was made (HTTP ${reply.status}): ${reasonOf(answer)}`)
  const minutes = Math.round((Date.parse(answer.expires_at ?? '') - Date.now()) / 60_000)
  return `Open this within ${minutes} minutes to sign in as ${answer.email}; it works once:\n\n  ${base}${answer.path}\n`
}

/** A host that has just started has no database for some seconds: that is waited for. */
async function askForLink(base: string, token: string, email: string): Promise<Response> {
  const endMs = performance.now() + DATABASE_PATIENCE_MS
  for (;;) {
    const reply = await ask(`${base}/operator/login-links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email }),
    })
    if (reply.status !== 503 || performance.now() > endMs) return reply
    await reply.body?.cancel()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

/** What only concerns a host that starts must not keep this from running beside it. */
const UNUSED = { KEYWAY_OPEN_CONNECTORS: '1', KEYWAY_SECRET: '' }

type Answer = {
  email?: string
  path?: string
  expires_at?: string
  detail?: unknown
  error?: { message?: string }
}

const reasonOf = ({ error }: Answer): string => error?.message ?? 'the answer is not Keyway’s'

/** Where the host of these settings is reached from this machine. */
function addressOf({ host, port }: Config): string {
  if (port === 0) throw new ConfigError('PORT is 0, which says nothing: give the address by --url')
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** The pages stand at fixed paths: an address with one of its own could not show them. */
function checked(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.href !== `${parsed.origin}/`)
    throw new ConfigError(`--url: ${url} is not an address such as https://keyway.example`)
  return parsed.origin
}

async function expectKeyway(base: string): Promise<void> {
  const reply = await ask(`${base}/info`)
  const info = (await reply.json().catch(() => null)) as { name?: unknown } | null
  if (info?.name === 'Keyway') return
  throw new ConfigError(
    `${base} answers, but is not Keyway (HTTP ${reply.status}); give the host's address by HOST and PORT, or --url`,
  )
}

async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, {
      ...init,
      // The token is for this host, not for where it may point.
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
  } catch (error) {
    const { cause, message } = error as Error
    throw new ConfigError(
      `No host answers at ${new URL(url).origin} (${(cause as NodeJS.ErrnoException)?.code ?? message}): start one with \`npm start\`, or say by HOST and PORT, or --url, where it is`,
    )
  }
}

async function operatorToken({ adminToken, dataDir }: Config): Promise<string> {
  if (adminToken !== '') return adminToken
  try {
    return (await readKeptSecret(dataDir, 'admin-token')).value
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new ConfigError(
      `The operator's token cannot be read (${code ?? message}) in ${dataDir}: run this as the host's user and with its KEYWAY_DATA_DIR, or set KEYWAY_ADMIN_TOKEN`,
    )
  }
}
