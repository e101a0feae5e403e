/** The scene of the attacks: a host process with a healthy connector, and the servers around it. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { temporaryFolder } from '../temporary-folder.ts'
import { createClient, type VerifyClient } from './client.ts'
import { CORPUS, type FolderPlace, usualManifest } from './corpus.ts'
import { type HostLink, startHostProcess } from './host-link.ts'
import { HEALTHY_NEIGHBOUR } from './neighbours.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/** Row of `GET /operator/connectors`. */
type Row = {
  folder: string
  digest: string | null
  state: string
  reason: string | null
  serving: boolean
}

export type Scene = FolderPlace & {
  host: HostLink
  client: VerifyClient
  upstream: Upstream
  quick: boolean
  operator(): Promise<Row[]>
  /** Paths of this machine that no answer may show. */
  paths: string[]
  close(): Promise<void>
}

const CONNECTORS_PATH = '/connectors'
const ADMIN_TOKEN = 'lsk_operator-token-of-a-verification-run'
const SECRET = 'key-material-of-a-verification-run-0123456789'

/**
 * Starts everything. `entry` is the file of the host process; `granted` names the connectors that may reach
 * the upstream.
 */
export async function openScene(
  entry: string,
  granted: readonly string[],
  quick: boolean,
): Promise<Scene> {
  const folder = temporaryFolder('verify')
  const home = folder.path
  const plugins = path.join(home, 'plugins')
  const secrets = path.join(home, 'data')
  const neighbour = path.join(plugins, HEALTHY_NEIGHBOUR.id)
  await mkdir(neighbour, { recursive: true })
  await writeFile(path.join(neighbour, 'connector.ts'), HEALTHY_NEIGHBOUR.code)
  await writeFile(
    path.join(neighbour, 'connector.json'),
    JSON.stringify(usualManifest(HEALTHY_NEIGHBOUR.id)),
  )
  const upstream = await startUpstream()
  const { url, rawUrl, directoryUrl, databaseUrl } = upstream
  const reachable = [url, rawUrl, directoryUrl, databaseUrl].map((one) => new URL(one).host)
  const host = await startHostProcess(entry, {
    plugins,
    environment: {
      PORT: '0',
      KEYWAY_DATA_DIR: secrets,
      KEYWAY_PLUGINS_DIR: plugins,
      KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN,
      KEYWAY_SECRET: SECRET,
      KEYWAY_PRIVATE_EGRESS: [HEALTHY_NEIGHBOUR.id, ...granted]
        .flatMap((id) => reachable.map((target) => `${id}=${target}`))
        .join(' '),
      KEYWAY_PLAIN_LDAP: granted.map((id) => `${id}=${new URL(directoryUrl).host}`).join(' '),
      KEYWAY_PLAIN_SQL: granted.map((id) => `${id}=${new URL(databaseUrl).host}`).join(' '),
    },
    secrets: [ADMIN_TOKEN, SECRET, HEALTHY_NEIGHBOUR.token],
    hostileWorker: path.join(CORPUS, 'worker', 'hostile-worker.mjs'),
  })
  const client = createClient(host.url, CONNECTORS_PATH)
  return {
    plugins,
    secrets,
    host,
    client,
    upstream,
    quick,
    paths: [home, path.join(import.meta.dirname, '..')],
    async operator() {
      const { status, text } = await client.get('/operator/connectors', 15_000, ADMIN_TOKEN)
      if (status !== 200) throw new Error(`/operator/connectors answered ${status}: ${text}`)
      return JSON.parse(text).items
    },
    async close() {
      client.close()
      await host.stop()
      await upstream.close()
      await folder.remove()
    },
  }
}
