/** `keyway start`: the server, and with `--sample` a directory for it to talk to. */
import { type Config, readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { createHost, type Host } from '../main.ts'
import { startSampleThread } from '../sample/sample-thread.ts'
import { SAMPLE_TOKEN, type SampleDirectory } from '../sample/scim-server.ts'
import { addressError, listen, stopOnSignal } from './serve.ts'

export type StartOptions = { sample?: true; samplePort: number }

export async function start({ sample, samplePort }: StartOptions): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog(config.logLevel)
  const directory = sample ? await startSample(samplePort) : null
  const host = await createHost(directory ? withGrant(config, directory.baseUrl) : config, log)
  const listening = await listen(host, config)
  stopOnSignal(log, async () => {
    await listening.stop()
    await directory?.close()
  })
  log.info({ url: listening.url, containment: host.lanes.containment.level }, 'Keyway listens')
  tellToken(host, log.info.bind(log))
  await host.settled
  log.info({ connectors: host.registry.ids() }, 'ready')
  if (directory)
    process.stdout.write(sampleCall(listening.url, config.connectorsPath, directory.baseUrl))
}

async function startSample(port: number): Promise<SampleDirectory> {
  try {
    return await startSampleThread(port)
  } catch (error) {
    throw addressError(error as Error, '--sample-port', '127.0.0.1', port)
  }
}

/** The sample directory is on loopback, which a connector may reach only when it is granted. */
function withGrant(config: Config, baseUrl: string): Config {
  return {
    ...config,
    privateEgress: `${config.privateEgress} scim=${new URL(baseUrl).host}`.trim(),
  }
}

/** The token itself is shown to people only: a log is read by others. */
function tellToken(
  { adminToken, adminTokenFile }: Host,
  info: (line: object, text: string) => void,
): void {
  if (adminTokenFile === null) return
  info({ file: adminTokenFile }, 'the operator token is in this file')
  if (process.stdout.isTTY) process.stdout.write(`\n  operator token: ${adminToken}\n\n`)
}

function sampleCall(url: string, connectorsPath: string, baseUrl: string): string {
  const body = {
    auth: { token: { token: SAMPLE_TOKEN } },
    settings: { base_url: baseUrl },
    request: {},
    page: { size: 5 },
  }
  return [
    '',
    'A sample directory with 250 people runs beside. Try:',
    '',
    `  curl -s ${url}${connectorsPath}/scim/list_accounts \\`,
    "    -H 'content-type: application/json' \\",
    `    -d '${JSON.stringify(body)}'`,
    '',
    '',
  ].join('\n')
}
