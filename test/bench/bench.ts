/**
 * `npm run bench`: Keyway against B (the same server without a sandbox), in one run, interleaved,
 * medians. Ratios are what counts; absolute figures belong to this machine.
 *
 * `ROUNDS` and `SECONDS` in the environment make it longer or shorter.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const SECONDS = process.env['SECONDS'] ?? '3'
const HERE = import.meta.dirname
const ROOT = path.join(HERE, '..', '..')

const TOKEN = { auth: { token: { token: 'bench-token' } } }
const WRITE = {
  account_integration_specific_id: 'u1',
  resource_integration_specific_id: '',
  resource_type: '',
  entitlement_type: 'GROUP',
  entitlement_integration_specific_id: 'g1',
}
const WORKLOADS = [
  { name: 'list of 100 accounts', capability: 'list_accounts', body: { ...TOKEN, request: {} } },
  { name: 'small write', capability: 'assign_entitlement', body: { ...TOKEN, request: WRITE } },
] as const
const CALLERS = [1, 32]

type Contender = { name: string; url: string; process: ChildProcess }
type Figures = { perSecond: number; p50: number; p99: number; failed: number }

/** Starts a process and waits for the line that says where it listens. */
async function begin(
  name: string,
  args: string[],
  env: Record<string, string>,
  find: RegExp,
): Promise<Contender> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const match = find.exec(line)
    if (match) {
      child.stdout?.resume()
      return { name, url: `http://127.0.0.1:${match[1]}`, process: child }
    }
  }
  throw new Error(`${name} did not start`)
}

async function load(url: string, body: object, callers: number): Promise<Figures> {
  const child = spawn(
    process.execPath,
    [path.join(HERE, 'load.ts'), url, JSON.stringify(body), String(callers), SECONDS],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  for await (const chunk of child.stdout as NodeJS.ReadableStream) text += chunk
  return JSON.parse(text)
}

async function untilServed(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { response } = await fetch(`${url}/connectors/list-connector-app-ids`).then(
      (reply) => reply.json() as Promise<{ response: string[] }>,
    )
    if (response.includes('bench')) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the bench connector is not served')
}

const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const dataDir = await mkdtemp(path.join(tmpdir(), 'keyway-bench-'))
const baseline = await begin('B', [path.join(HERE, 'baseline.ts')], {}, /^(\d+)$/)
const keyway = await begin(
  'Keyway',
  [path.join(ROOT, 'runtime/cli/main.ts'), 'start'],
  {
    PORT: '0',
    KEYWAY_DATA_DIR: dataDir,
    KEYWAY_PLUGINS_DIR: path.join(HERE, 'connectors'),
    UV_THREADPOOL_SIZE: '32',
  },
  /"url":"http:\/\/127\.0\.0\.1:(\d+)"/,
)
try {
  await untilServed(keyway.url)
  console.log(`${ROUNDS} rounds of ${SECONDS} s each, interleaved; medians\n`)
  console.log(
    'workload                 callers  contender  calls/s   p50 ms   p99 ms  failed   vs B',
  )
  for (const { name, capability, body } of WORKLOADS) {
    for (const callers of CALLERS) {
      const results = new Map<string, Figures[]>()
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const contender of [baseline, keyway]) {
          const figures = await load(
            `${contender.url}/connectors/bench/${capability}`,
            body,
            callers,
          )
          results.set(contender.name, [...(results.get(contender.name) ?? []), figures])
        }
      }
      const b = median((results.get('B') ?? []).map(({ perSecond }) => perSecond))
      for (const [contender, figures] of results) {
        const perSecond = median(figures.map((one) => one.perSecond))
        const cells = [
          name.padEnd(24),
          String(callers).padStart(7),
          `  ${contender.padEnd(9)}`,
          perSecond.toFixed(0).padStart(8),
          median(figures.map((one) => one.p50))
            .toFixed(3)
            .padStart(8),
          median(figures.map((one) => one.p99))
            .toFixed(3)
            .padStart(8),
          String(figures.reduce((sum, one) => sum + one.failed, 0)).padStart(7),
          (perSecond / b).toFixed(2).padStart(6),
        ]
        console.log(cells.join(' '))
      }
    }
  }
} finally {
  baseline.process.kill('SIGTERM')
  keyway.process.kill('SIGTERM')
  await new Promise((resolve) => keyway.process.once('exit', resolve))
  await rm(dataDir, { recursive: true, force: true })
}
