/**
 * The host process of a soak: a whole host with its database, which also reports its state to the run. The
 * first message contains its settings. It stops when its parent is gone.
 */
import { listen } from '../../runtime/cli/serve.ts'
import { readConfig } from '../../runtime/config/config.ts'
import { createHost, type Host } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import type { HostQuestion, HostSettings, HostState } from '../../runtime/verify/host-link.ts'

/** Log lines that must not occur: defects, secrets, and deaths of workers that were not attacked. */
const lines: string[] = []
/** Maximum number of lines: more give no further information. */
const MAX_TOLD = 50
const DEFECT_LEVEL = 50
let logBytes = 0
/** Lanes without hostile connectors. */
let healthy: () => string[] = () => []

process.once('message', (settings: HostSettings) => void serve(settings))

async function serve({ environment, secrets }: HostSettings): Promise<void> {
  const config = readConfig(environment)
  const log = createLog('info', {
    write(line: string) {
      logBytes += line.length
      if (lines.length >= MAX_TOLD) return
      const { level, connector, lane } = JSON.parse(line)
      const isDefect = level >= DEFECT_LEVEL && connector === undefined
      if (isDefect || (lane !== undefined && healthy().includes(lane)))
        lines.push(line.slice(0, 1000))
      for (const secret of secrets)
        if (line.includes(secret)) lines.push(`a secret: ${line.slice(0, 1000)}`)
    },
  })
  const host = await createHost(config, log)
  healthy = () => ['steady', 'listing', 'scim'].flatMap((id) => host.registry.find(id)?.lane ?? [])
  const listening = await listen(host, config)
  await Promise.all([host.settled, host.databaseReady])
  process.on('message', ({ id }: HostQuestion & { id: number }) => {
    process.send?.({ id, value: stateOf(host) })
  })
  process.once('disconnect', () => void listening.stop().then(() => process.exit(0)))
  process.send?.({ began: { url: listening.url, containment: host.lanes.containment } })
}

function stateOf(host: Host): HostState {
  global.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  return {
    workers: host.lanes.states(),
    residentBytes: rss,
    usedBytes: heapUsed + external,
    logBytes,
    logged: lines,
    changedBuiltIns: [],
  }
}
