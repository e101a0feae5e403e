/** A host of one connector folder, for who writes it: its real sandbox and network, no database, no others, and no server’s data. */
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Config, ConfigError } from '../config/config.ts'
import { ifMissing } from '../contract/errors/thrown.ts'
import type { HostParts } from '../host/parts.ts'
import { createHost, type Host } from '../main.ts'
import type { Log } from '../observe/log.ts'
import type { Observers } from '../observe/telemetry.ts'

export type FolderHost = {
  host: Host
  /** Tidies up what only this host needed; the host itself is stopped by who listens. */
  leave(): Promise<void>
}

/** @throws ConfigError where the folder is not there. */
export async function openFolderHost(
  folder: string,
  config: Config,
  log: Log,
  observers: Observers,
  { recorder }: Pick<HostParts, 'recorder'> = {},
): Promise<FolderHost> {
  if (!(await isDirectory(folder))) throw new ConfigError(`no such folder: ${folder}`)
  const own = await mkdtemp(path.join(tmpdir(), 'keyway-dev-'))
  const removeNow = () => rmSync(own, { recursive: true, force: true })
  // Also when a signal ends the command: the folder holds a secret and the operator token.
  process.once('exit', removeNow)
  const leave = async () => {
    // A compilation that nobody waits for any more may still write there.
    await rm(own, { recursive: true, force: true, maxRetries: 10 })
    process.off('exit', removeNow)
  }
  // The watched directory holds nothing but a link to the folder: its neighbours are not its business.
  const plugins = path.join(own, 'plugins')
  // The configured one may be that of a server, whose installed connectors would be served, too.
  const dataDir = path.join(own, 'data')
  await mkdir(plugins)
  await symlink(folder, path.join(plugins, path.basename(folder)), 'dir')
  try {
    const parts = { only: plugins, database: 'none' as const, ...(recorder && { recorder }) }
    const host = await createHost({ ...config, dataDir, dropIn: 'open' }, log, observers, parts)
    return { host, leave }
  } catch (error) {
    await leave()
    throw error
  }
}

const isDirectory = (folder: string): Promise<boolean> =>
  stat(folder).then((one) => one.isDirectory(), ifMissing(false))
