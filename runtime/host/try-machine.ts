/** Checks of the machine that start while the rest of the host is still being loaded. */
import { tryLayers } from '../lanes/launch.ts'
import { tryRaising } from '../lanes/priority.ts'

/** Starts checking how workers can be contained and scheduled on this machine. */
export function tryMachine(): void {
  tryLayers()
  tryRaising()
}
