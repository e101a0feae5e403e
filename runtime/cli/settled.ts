/** What a server does once it knows its connectors. */
import type { Config } from '../config/config.ts'
import type { Host } from '../main.ts'
import { letHeapGrow } from './heap.ts'

/** Waits until the host knows its connectors; from then on its heap grows by its own rule, and a worker is kept ready. */
export async function settle(host: Host, { spareWorker }: Config): Promise<void> {
  await host.settled
  letHeapGrow()
  if (spareWorker) host.lanes.keepSpare()
}
