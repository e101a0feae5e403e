/** A host of one connector folder, for who writes it: its real sandbox and network, no database, no others, and no server’s data. */
import { mkdir, stat, symlink } from 'node:fs/promises'
import path from 'node:path'
import { type Config, ConfigError } from '../config/config.ts'
import { ifMissing } from '../contract/errors/thrown.ts'
import type { HostParts } from '../host/parts.ts'
import { createHost, type Host } from '../main.ts'
import type { Log } from '../observe/log.ts'
import type { Observers } from '../observe/telemetry.ts'
import { temporaryFolder } from '../temporary-folder.ts'

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
  const own = temporaryFolder('dev')
  // The watched directory holds nothing but a link to the folder: its neighbours are not its business.
  const plugins = path.join(own.path, 'plugins')
  // The configured one may be that of a server, whose installed connectors would be served, too.
  const dataDir = path.join(own.path, 'data')
  await mkdir(plugins)
  await symlink(folder, path.join(plugins, path.basename(folder)), 'dir')
  try {
    const parts = { only: plugins, database: 'none' as const, ...(recorder && { recorder }) }
    const host = await createHost({ ...config, dataDir, dropIn: 'open' }, log, observers, parts)
    return { host, leave: own.remove }
  } catch (error) {
    await own.remove()
    throw error
  }
}

const isDirectory = (folder: string): Promise<boolean> =>
  stat(folder).then((one) => one.isDirectory(), ifMissing(false))
