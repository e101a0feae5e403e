/** The sample directory in a thread of its own, so that its work never delays the host's. */
import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { SampleDirectory } from './scim-server.ts'

/** With the ending of this file: `.js` in the installed package. */
const SERVER = path.join(import.meta.dirname, `scim-server${path.extname(import.meta.filename)}`)

/** Starts it; rejects with the reason when it cannot listen (`EADDRINUSE` and the like). */
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
