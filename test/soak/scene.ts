/** The environment of a soak: a host process with its connectors, their upstreams, and a client. */
import { cp, mkdir, realpath, rm } from 'node:fs/promises'
import path from 'node:path'
import { startSampleThread } from '../../runtime/sample/sample-thread.ts'
import type { Attack, Family } from '../../runtime/verify/attacks/attack.ts'
import { writeFolder } from '../../runtime/verify/corpus.ts'
import { type HostLink, startHostProcess } from '../../runtime/verify/host-link.ts'
import { forgetDatabase } from '../database/forget.ts'
import { newFolder } from '../kit/folder.ts'
import { withFirstStart } from '../kit/template.ts'
import { createSoakClient, type SoakClient } from './client.ts'
import { type Stalls, watchStalls } from './stalls.ts'
import { type SoakUpstream, startSoakUpstream } from './upstream.ts'

export type Hostile = { family: Family; attack: Attack }

export type SoakScene = {
  host: HostLink
  client: SoakClient
  upstream: SoakUpstream
  /** The `base_url` for the SCIM connector. */
  directoryUrl: string
  hostile: readonly Hostile[]
  /** Stops everything; resolves when the host's process has ended. */
  close(): Promise<void>
}

export const ADMIN_TOKEN = 'lsk_operator-token-of-a-soak-0123456789abcdef'
const SECRET = 'key-material-of-a-soak-0123456789-0123456789'
/** How long the checks of all connectors may take, in milliseconds. */
const JUDGED_MS = 120_000

export async function openSoakScene(
  own: readonly string[],
  hostile: readonly Hostile[],
): Promise<SoakScene> {
  const home = await realpath(newFolder('soak'))
  const plugins = path.join(home, 'plugins')
  const dataDir = await withFirstStart(path.join(home, 'data'))
  await mkdir(plugins)
  for (const id of own)
    await cp(path.join(import.meta.dirname, 'connectors', id), path.join(plugins, id), {
      recursive: true,
    })
  for (const { family, attack } of hostile)
    await writeFolder(family, attack, { plugins, secrets: dataDir })
  const upstream = await startSoakUpstream()
  const directory = await startSampleThread(0)
  const host = await startHostProcess(path.join(import.meta.dirname, 'host.ts'), {
    plugins,
    environment: {
      PORT: '0',
      KEYWAY_DATA_DIR: dataDir,
      KEYWAY_PLUGINS_DIR: plugins,
      KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      KEYWAY_SECRET: SECRET,
      KEYWAY_REQUESTS_PER_MINUTE: '1000000',
      KEYWAY_PRIVATE_EGRESS: `steady=${new URL(upstream.url).host} scim=${new URL(directory.baseUrl).host}`,
    },
    secrets: [ADMIN_TOKEN, SECRET],
    hostileWorker: '',
  })
  const stalls: Stalls = watchStalls()
  const client = createSoakClient(host.url, stalls)
  const close = async () => {
    client.letGo()
    stalls.stop()
    await host.stop()
    await Promise.all([upstream.close(), directory.close()])
    await forgetDatabase(dataDir)
    await rm(home, { recursive: true, force: true })
  }
  try {
    await untilServed(client, [...own, 'scim', ...hostile.map(({ attack }) => attack.name)])
  } catch (error) {
    await close()
    throw error
  }
  return { host, client, upstream, directoryUrl: directory.baseUrl, hostile, close }
}

async function untilServed(client: SoakClient, wanted: readonly string[]): Promise<void> {
  const endMs = performance.now() + JUDGED_MS
  for (;;) {
    const { body } = await client.call({
      at: '/connectors/list-connector-app-ids',
      deadlineMs: 10_000,
    })
    const served = body.response as readonly string[]
    const missing = wanted.filter((id) => !served.includes(id))
    if (missing.length === 0) return
    if (performance.now() > endMs) throw new Error(`not served: ${missing.join(', ')}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
