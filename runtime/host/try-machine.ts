/** What a host asks its machine, begun while the rest of it is still being loaded. */
import { tryLayers } from '../lanes/launch.ts'
import { tryRaising } from '../lanes/priority.ts'

/** Begins to try how workers can be contained and scheduled here. */
export function tryMachine(): void {
  tryLayers()
  tryRaising()
}
