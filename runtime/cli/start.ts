/**
 * `keyway start`: starts the server, and with `--sample` a directory for it to connect to and a small
 * company.
 */
import { flushCompileCache } from 'node:module'
import type { Config } from '../config/config.ts'
import { errorOf } from '../contract/errors/thrown.ts'
import { createHost, type Host } from '../main.ts'
import type { Log } from '../observe/log.ts'
import { startSampleThread } from '../sample/sample-thread.ts'
import type { SampleDirectory } from '../sample/scim-server.ts'
import { SAMPLE_TOKEN } from '../sample/tenants.ts'
import { isMember, isPrimary, type StartContext, type StartOptions } from './begin.ts'
import { tellReady } from './log-ready.ts'
import { tellToken } from './log-token.ts'
import { serveAsMember, startProcesses } from './processes.ts'
import { ensureSampleCompany } from './sample-company.ts'
import { addressError, listen, stopOnSignal } from './serve.ts'
import { settle } from './settled.ts'
import { quoted } from './terminal/quoted.ts'

/** Continues a start that was begun. */
export async function start(
  config: Config,
  options: StartOptions,
  { log, keeper }: StartContext,
): Promise<void> {
  // A killed host would leave no cache of its compiled code. Before it listens, nobody waits for this.
  flushCompileCache()
  if (isMember()) return serveAsMember(config, log)
  const { sample, samplePort, newDatabase } = options
  if (isPrimary(config, options))
    return startProcesses(config, log, { replaceMissing: newDatabase === true })
  const directory = sample ? await startSample(samplePort) : null
  const granted = directory ? withGrant(config, directory.baseUrl) : config
  const host = await createHost(
    granted,
    log,
    {},
    {
      ...(newDatabase ? { database: 'new' } : {}),
      keeper,
    },
  )
  const prepared = Promise.withResolvers<void>()
  if (directory) host.readyAfter('creating the sample company', prepared.promise)
  const listening = await listen(host, config)
  const stopping = new AbortController()
  let company: Promise<string> = Promise.resolve('')
  stopOnSignal(log, async () => {
    stopping.abort()
    await Promise.all([listening.stop(), company])
    await directory?.close()
  })
  log.info({ url: listening.url, containment: host.lanes.containment.level }, 'Keyway listens')
  tellToken(host, log)
  await settle(host, config)
  const ready = () => tellReady(host.registry.ids(), log)
  if (!directory) return ready()
  const { baseUrl } = directory
  const { signal } = stopping
  company = bringCompany(host, log, { baseUrl, signal, url: listening.url })
  const call = await company
  prepared.resolve()
  if (signal.aborted) return
  ready()
  process.stdout.write(sampleCall(listening.url, config.connectorsPath, baseUrl) + call)
}

/**
 * Creates the sample company and returns an example call to print. The server keeps serving if this fails.
 */
async function bringCompany(
  host: Host,
  log: Log,
  { baseUrl, signal, url }: { baseUrl: string; signal: AbortSignal; url: string },
): Promise<string> {
  const onAway = (error: Error) =>
    log.warn({ err: error }, 'the sample company is waiting for the database')
  try {
    const outcome = await ensureSampleCompany(host, { baseUrl, signal, onAway })
    log.info({ outcome }, OUTCOMES[outcome])
    return outcome === 'left-out' ? '' : companyCall(url, host.adminTokenFile)
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'the sample company could not be created')
    return ''
  }
}

const OUTCOMES = {
  made: 'the sample company was created',
  there: 'the sample company already exists and stays as it is',
  'left-out':
    'the sample company was not created: this database already has people, or the operator token was revoked; to get it, set KEYWAY_DATA_DIR to an empty folder',
} as const

async function startSample(port: number): Promise<SampleDirectory> {
  try {
    return await startSampleThread(port)
  } catch (error) {
    throw addressError(errorOf(error), '--sample-port', '127.0.0.1', port)
  }
}

/** Grants the connector access to the sample directory, because it is on loopback. */
function withGrant(config: Config, baseUrl: string): Config {
  return {
    ...config,
    privateEgress: `${config.privateEgress} scim=${new URL(baseUrl).host}`.trim(),
  }
}

function sampleCall(url: string, connectorsPath: string, baseUrl: string): string {
  const body = {
    auth: { token: { token: SAMPLE_TOKEN } },
    settings: { base_url: baseUrl },
    request: {},
    page: { size: 5 },
  }
  return [
    '',
    'A sample directory with 250 people is running too. Try:',
    '',
    `  curl -s ${url}${connectorsPath}/scim/list_accounts \\`,
    "    -H 'content-type: application/json' \\",
    `    -d '${JSON.stringify(body)}'`,
    '',
    '',
  ].join('\n')
}

function companyCall(url: string, tokenFile: string | null): string {
  const token = tokenFile === null ? '$KEYWAY_ADMIN_TOKEN' : `$(cat ${quoted(tokenFile)})`
  return [
    'It contains a sample company with 30 people and two apps. Your open tasks:',
    '',
    `  curl -s '${url}/tasks?status=PENDING' -H "authorization: Bearer ${token}"`,
    '',
    'Sign in to its pages with the address that this prints:',
    '',
    '  npx keyway login-link',
    '',
    '',
  ].join('\n')
}
