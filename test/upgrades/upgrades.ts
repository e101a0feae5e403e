/**
 * `npm run upgrades`: paged calls at a steady rate on three hosts behind a balancer, while connectors are
 * upgraded, rolled back, granted and revoked, and workers are killed. Prints faults, and exits with 1 if
 * there are any.
 *
 * `CHANGES=100 CALLS=10000` are the defaults; the tests run a short form.
 */

import { packaged } from '../connectors/lifecycle/packaging.ts'
import { send } from '../e2e/client.ts'
import { stopCommands } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { type Deployment, deploy, TOKEN, workersOf } from './hosts.ts'
import { listSteadily } from './sequences.ts'

const CHANGES = Number(process.env['CHANGES'] ?? 100)
const CALLS = Number(process.env['CALLS'] ?? 10_000)
const PER_SECOND = Number(process.env['RATE'] ?? 60)
const HOSTS = 3
/** Calls of one page sequence. */
const PAGES = 5
/** Longest pause of a caller between two pages, in milliseconds. */
const PAUSE_MS = 400

type Act = { name: string; run(): Promise<void> }

async function main(): Promise<number> {
  const wrong: string[] = []
  const deployment = await deploy(HOSTS)
  try {
    console.log(`${HOSTS} hosts on one PostgreSQL behind ${deployment.balancer}`)
    const acts = createActs(deployment)
    await acts.first()
    const load = listSteadily(deployment.url, 'acme', {
      everyMs: (1000 * PAGES) / PER_SECOND,
      pauseMs: PAUSE_MS,
    })
    const counts = new Map<string, number>()
    for (let n = 0; n < CHANGES; n += 1) {
      const act = acts.next(n)
      await act.run().catch((error: Error) => wrong.push(`${act.name}: ${error.message}`))
      counts.set(act.name, (counts.get(act.name) ?? 0) + 1)
      const { calls, wrong: failed } = load.tally
      if (process.stderr.isTTY)
        process.stderr.write(
          `\r\x1b[2K${n + 1}/${CHANGES} changes, ${calls} calls, ${failed.length} wrong`,
        )
    }
    await until('all calls are made', () => load.tally.calls >= CALLS || null, 1_800_000)
    await load.stop()
    const { tally } = load
    wrong.push(...tally.wrong)
    wrong.push(...(await acts.agreement()))
    console.log(
      `${tally.calls} calls in ${tally.sequences} page sequences on ${tally.versions.size} versions, during ${[...counts].map(([name, count]) => `${count} × ${name}`).join(', ')}`,
    )
  } finally {
    await deployment.stop()
    await stopCommands()
  }
  for (const line of wrong) console.log(`WRONG ${line}`)
  console.log(wrong.length === 0 ? 'nothing is wrong' : `${wrong.length} things are wrong`)
  return wrong.length === 0 ? 0 : 1
}

/** Makes the changes one after the other, each through another host. */
function createActs({ hosts }: Deployment) {
  let version = 0
  let turn = 0
  /** Generations that served the connector. */
  const served: number[] = []

  async function operate(method: string, at: string, body?: object | Buffer, headers = {}) {
    turn += 1
    const host = hosts[turn % hosts.length]
    const isPackage = Buffer.isBuffer(body)
    const answer = await send(`${host?.url}/operator${at}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body ? { 'content-type': isPackage ? 'application/gzip' : 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: isPackage ? body : JSON.stringify(body) } : {}),
    })
    const value = JSON.parse(answer.text)
    if (answer.status >= 300 || value.is_error)
      throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`)
    return value
  }

  async function upgrade(): Promise<void> {
    version += 1
    const made = await packaged({ version: `1.${version}.0`, limits: { memory_mb: 96 } })
    await operate('POST', '/packages?wait_ms=0', made.packed)
    const { generation } = await operate('POST', '/connectors/acme/activate', {
      digest: made.digest,
      grant: 'all',
    })
    served.push(generation)
  }

  async function rollBack(): Promise<void> {
    const to = served.at(-2) ?? served.at(-1)
    const { generation } = await operate('POST', '/rollback', { to, grant: 'all' })
    served.push(generation)
  }

  /** A permission that the calls do not need. */
  const wants = ['limit memory_mb']

  const ACTS: Act[] = [
    { name: 'upgrade', run: upgrade },
    {
      name: 'worker killed',
      async run() {
        turn += 1
        const host = hosts[turn % hosts.length]
        const [pid] = host ? workersOf(host) : []
        if (pid !== undefined) process.kill(pid, 'SIGKILL')
      },
    },
    { name: 'revoke', run: () => operate('POST', '/connectors/acme/revoke', { wants }) },
    { name: 'rollback', run: rollBack },
    { name: 'grant', run: () => operate('POST', '/connectors/acme/grant', { wants }) },
  ]

  return {
    first: upgrade,
    next: (n: number): Act => ACTS[n % ACTS.length] as Act,
    /** Checks that all hosts finally serve the newest generation. */
    async agreement(): Promise<string[]> {
      const { generation } = await operate('GET', '/generations/newest')
      const ready = async () =>
        Promise.all(
          hosts.map(
            async ({ url }) => JSON.parse((await send(`${url}/readyz`, {})).text).generation,
          ),
        )
      await until(
        'all hosts agree',
        async () => (await ready()).every((one) => one === generation) || null,
      ).catch(() => undefined)
      const found = await ready()
      console.log(`generation ${generation}; the hosts serve ${found.join(', ')}`)
      return found.every((one) => one === generation)
        ? []
        : [`the newest generation is ${generation}, the hosts serve ${found.join(', ')}`]
    },
  }
}

process.exitCode = await main()
