/**
 * A host with one connector folder, for its author: real sandbox and network, but no database, no other
 * connectors, and none of a server's data.
 */
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
  /** Removes the temporary files of this host. The caller that listens stops the host itself. */
  leave(): Promise<void>
}

/**
 * Creates the host.
 *
 * @throws ConfigError if the folder does not exist
 */
export async function openFolderHost(
  folder: string,
  config: Config,
  log: Log,
  observers: Observers,
  { recorder }: Pick<HostParts, 'recorder'> = {},
): Promise<FolderHost> {
  if (!(await isDirectory(folder))) throw new ConfigError(`no such folder: ${folder}`)
  const own = temporaryFolder('dev')
  // The watched directory contains only a link to the folder, so that neighbouring folders are not loaded.
  const plugins = path.join(own.path, 'plugins')
  // The configured data directory may belong to a server, whose installed connectors would be served too.
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
