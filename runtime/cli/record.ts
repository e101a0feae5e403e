/**
 * `keyway call --record`: calls the connector of a folder, and writes a test case from the call and the
 * requests to the system.
 */
import path from 'node:path'
import { ConfigError, readConfig } from '../config/config.ts'
import { createLog } from '../observe/log.ts'
import { exitOnSignal } from '../temporary-folder.ts'
import { openFolderHost } from './folder-host.ts'
import { type CallFlags, callAt } from './operator/call.ts'
import { orRefuse, type Recorded, recordedLine, recordInto } from './recording.ts'
import { listen } from './serve.ts'

type RecordFlags = CallFlags & { record: string; name?: string }

/**
 * Settings of a host for this command only: reachable only from this machine, for a short time, on any free
 * port.
 */
const OWN = { HOST: '127.0.0.1', PORT: '0', KEYWAY_CONNECTOR_TOKEN: '', KEYWAY_LOG_LEVEL: 'error' }

/**
 * Records a call.
 *
 * @throws ConfigError if the folder has another connector, or with the reason if nothing was written
 */
export async function record(
  id: string,
  capability: string,
  { record: directory, name, url, ...flags }: RecordFlags,
): Promise<void> {
  if (url !== undefined)
    throw new ConfigError('--record calls the code of its folder itself; leave out --url')
  const folder = path.resolve(directory)
  const config = readConfig({ ...process.env, ...OWN })
  const told: Recorded[] = []
  const recording = recordInto(folder, (one) => told.push(one), name)
  const ghosts: string[] = []
  const onChange = ({ serving, reason }: { serving: boolean; reason: string | null }) => {
    if (!serving && reason !== null) ghosts.push(reason)
  }
  exitOnSignal()
  const log = createLog(config.logLevel)
  const { host, leave } = await openFolderHost(folder, config, log, { onChange }, recording)
  recording.use(host)
  const listening = await listen(host, config)
  try {
    await host.settled
    const [served] = host.registry.ids()
    if (served === undefined)
      throw new ConfigError(
        `${directory} is not served: ${ghosts.join('; ')}; keyway check shows more`,
      )
    if (served !== id) throw new ConfigError(`${directory} is the connector ${served}, not ${id}`)
    const base = new URL(`${config.connectorsPath}/`, listening.url)
    await callAt({ base, headers: {} }, id, capability, flags)
    await recording.idle()
  } finally {
    await listening.stop()
    await leave()
  }
  if (flags.dryRun) return
  const [first, last] = [told[0], told.at(-1)]
  if (last === undefined)
    throw new ConfigError(
      `${capability} is not recorded: it did not reach the connector's code: the host answered it itself`,
    )
  orRefuse([last])
  // The pages of one listing replace each other. What counts is whether the first one replaced an existing
  // case.
  const replaces = first !== undefined && 'written' in first && first.written.replaces
  console.error(
    recordedLine('written' in last ? { ...last, written: { ...last.written, replaces } } : last),
  )
}
