/** `keyway call --record`: calls the connector of a folder, and makes a case of what it and its system say. */
import path from 'node:path'
import { ConfigError, readConfig } from '../config/config.ts'
import { createLog } from '../observe/log.ts'
import { exitOnSignal } from '../temporary-folder.ts'
import { openFolderHost } from './folder-host.ts'
import { type CallFlags, callAt } from './operator/call.ts'
import { orRefuse, type Recorded, recordedLine, recordInto } from './recording.ts'
import { listen } from './serve.ts'

type RecordFlags = CallFlags & { record: string; name?: string }

/** A host for this command alone: nobody else can reach it for long, and any port will do. */
const OWN = { HOST: '127.0.0.1', PORT: '0', KEYWAY_CONNECTOR_TOKEN: '', KEYWAY_LOG_LEVEL: 'error' }

/** @throws ConfigError where the folder holds another connector, or nothing was written; the message says why. */
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
        `${directory} is not served: ${ghosts.join('; ')}; keyway check says more`,
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
  // The pages of one listing replace each other: what counts is whether the first one found a case.
  const replaces = first !== undefined && 'written' in first && first.written.replaces
  console.error(
    recordedLine('written' in last ? { ...last, written: { ...last.written, replaces } } : last),
  )
}
