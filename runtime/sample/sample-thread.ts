/** Runs the sample directory in its own thread, so that it never delays the host. */
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { SampleDirectory } from './scim-server.ts'

/** With the extension of this file, which is `.js` in the installed package. */
const SERVER = path.join(import.meta.dirname, `scim-server${path.extname(import.meta.filename)}`)

/** Starts the thread. Rejects with the reason if the server cannot listen (`EADDRINUSE` and the like). */
export function startSampleThread(port: number): Promise<SampleDirectory> {
  const thread = new Worker(SERVER, { workerData: { samplePort: port } })
  return new Promise((resolve, reject) => {
    thread.once('error', reject)
    thread.once('message', (baseUrl: string) =>
      resolve({
        baseUrl,
        async close() {
          await thread.terminate()
        },
      }),
    )
  })
}
