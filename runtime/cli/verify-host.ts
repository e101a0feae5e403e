/**
 * The host process that `keyway verify` attacks: a real host that also reports its state to the run. Its
 * first message configures it, and it stops when its parent exits.
 */
import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { readConfig } from '../config/config.ts'
import { createHost, type Host } from '../main.ts'
import { createLog } from '../observe/log.ts'
import { watchBuiltIns } from '../verify/built-ins.ts'
import type { CoreEnded, HostQuestion, HostSettings, HostState } from '../verify/host-link.ts'
import { createHostileResolver } from '../verify/resolver.ts'
import { listen } from './serve.ts'

/** Set when the host is complete: its own libraries replace some built-ins too. */
let changedBuiltIns: () => string[] = () => []

/** What the next worker process does instead of its work. */
let action: string | null = null
const takenOver = new Set<ReturnType<typeof spawn>>()
let logBytes = 0
const logged = new Set<string>()

process.once('message', (settings: HostSettings) => void serve(settings))

/** Ends the process. Replaced once there is a host to stop. */
let end = (): void => process.exit(0)
// Registered at once: otherwise a parent that exits while the host starts would not be noticed.
process.once('disconnect', () => {
  letGo()
  end()
})

async function serve({ environment, plugins, secrets, hostileWorker }: HostSettings) {
  const config = readConfig(environment)
  const log = createLog(config.logLevel, {
    write(line: string) {
      logBytes += line.length
      for (const secret of secrets) if (line.includes(secret)) logged.add(secret)
    },
  })
  const host = await createHost(
    config,
    log,
    {},
    {
      only: plugins,
      database: 'none',
      resolve: createHostileResolver(),
      launch: (real) => ({
        ...real,
        start() {
          if (action === null) return real.start()
          const child = spawn(process.execPath, [hostileWorker, action], {
            stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
          })
          action = null
          takenOver.add(child)
          child.once('exit', () => takenOver.delete(child))
          const pipe = child.stdio[3]
          if (!(pipe instanceof Duplex)) throw new Error('the worker was started without its pipe')
          return { process: child, pipe }
        },
      }),
    },
  )
  const listening = await listen(host, config)
  await host.settled
  changedBuiltIns = watchBuiltIns()
  process.on('message', ({ id, ...question }: HostQuestion & { id: number }) => {
    void answer(host, question).then((value) => process.send?.({ id, value }))
  })
  end = () => void listening.stop().then(() => process.exit(0))
  process.send?.({ began: { url: listening.url, containment: host.lanes.containment } })
}

async function answer(host: Host, question: HostQuestion): Promise<HostState | CoreEnded | null> {
  if (question.what === 'core call') return coreCall(host, question)
  if (question.what === 'take over') action = question.action
  if (question.what === 'let go') letGo()
  if (question.what !== 'state') return null
  global.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  return {
    workers: host.lanes.states(),
    residentBytes: rss,
    usedBytes: heapUsed + external,
    logBytes,
    logged: [...logged],
    changedBuiltIns: changedBuiltIns(),
  }
}

async function coreCall(
  { parts }: Host,
  { connector, token, settings }: Extract<HostQuestion, { what: 'core call' }>,
): Promise<CoreEnded> {
  const answer = await parts.connectors.call({
    connectorId: connector,
    capability: 'list_accounts',
    body: { auth: { token: { token } }, settings, request: {}, page: { size: 1000 } },
    requestId: 'verify',
    cause: { kind: 'sync', id: 'verify' },
    appId: null,
    signal: AbortSignal.timeout(120_000),
  })
  if (answer.ok) return { ending: 'answer', message: '' }
  return { ending: answer.error.error_code, message: answer.error.message }
}

function letGo(): void {
  action = null
  for (const child of takenOver) child.kill('SIGKILL')
}
