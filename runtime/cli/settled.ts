/** Actions of a server once it knows its connectors. */
import type { Config } from '../config/config.ts'
import type { Host } from '../main.ts'
import { letHeapGrow } from './heap.ts'

/**
 * Waits until the host knows its connectors. Then changes the growth of its heap, and keeps a spare worker
 * ready.
 */
export async function settle(host: Host, { spareWorker }: Config): Promise<void> {
  await host.settled
  letHeapGrow()
  if (spareWorker) host.lanes.keepSpare()
}
