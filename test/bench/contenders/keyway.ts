/** Starts Keyway as an operator does, with its embedded database. The log is discarded. */
import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { forgetDatabase } from '../../database/forget.ts'
import { pause, type Run } from '../run.ts'
import { type Server, startServer } from '../server.ts'

/** The checkout that this file is in. */
export const CHECKOUT: string = path.join(import.meta.dirname, '..', '..', '..')
/** The bearer token of `/operator` on every host of a run. */
export const OPERATOR_TOKEN = `lsk_${'bench'.repeat(8)}`

/** A data directory that may be used for several starts. */
export type Home = { dataDir: string; remove(): Promise<void> }

/** Makes a data directory in the run's folder. */
export async function makeHome({ home }: Run, name: string): Promise<Home> {
  const dataDir = path.join(home, name)
  await mkdir(dataDir, { recursive: true })
  return {
    dataDir,
    async remove() {
      // When run as root, the database is elsewhere.
      await forgetDatabase(dataDir)
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Starts Keyway, of this checkout or another one, with a data directory. Waits until `/readyz` reports ready.
 */
export const startKeyway = (
  { signal }: Run,
  { dataDir }: Home,
  plugins: string,
  env: Record<string, string> = {},
  checkout: string = CHECKOUT,
): Promise<Server> =>
  startServer({
    name: 'Keyway',
    command: process.execPath,
    args: () => [path.join(checkout, 'runtime', 'cli', 'keyway.mjs'), 'start'],
    env: {
      KEYWAY_DATA_DIR: dataDir,
      KEYWAY_PLUGINS_DIR: plugins,
      KEYWAY_ADMIN_TOKEN: OPERATOR_TOKEN,
      ...env,
    },
    readyPath: '/readyz',
    signal,
  })

/** Time limit for checking folders, in milliseconds. A thousand folders take minutes. */
const CHECKED_MS = 1_800_000

/**
 * Waits until the expected connectors are served, and returns the number of connectors that are.
 *
 * @throws Error if they are not served after half an hour.
 */
export async function untilServed(
  { signal, tell }: Run,
  { url }: Server,
  isEnough: (ids: readonly string[]) => boolean,
): Promise<void> {
  const endMs = performance.now() + CHECKED_MS
  let served = 0
  while (performance.now() < endMs) {
    const reply = await fetch(`${url}/connectors/list-connector-app-ids`, { signal })
    const { response } = (await reply.json()) as { response: string[] }
    if (isEnough(response)) return
    served = response.length
    tell(`${served} connectors are served`)
    await pause(100)
  }
  throw new Error(`only ${served} connectors are served`)
}
