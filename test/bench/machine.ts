/** A description of the machine, without host names and paths. */
import { cpus, loadavg, release, totalmem, type } from 'node:os'

/** Such as `2 cores (AMD EPYC), 24 GiB, Linux 6.12, Node 26.10.0`. */
export function machineWords(): string {
  const [first] = cpus()
  const model = first?.model.trim().replaceAll(/\s+/g, ' ') ?? 'unknown'
  const gib = Math.round(totalmem() / 2 ** 30)
  const system = `${type()} ${release().split('.').slice(0, 2).join('.')}`
  return `${cpus().length} cores (${model}), ${gib} GiB, ${system}, Node ${process.versions.node}`
}

/** Load averages of the last 1, 5 and 15 minutes. Figures from a busy machine are not meaningful. */
export const loadWords = (): string =>
  loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')
