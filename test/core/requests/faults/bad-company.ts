/** A company with one app whose system behaves as it is told. */
import { type CoreHost, type CoreOptions, QUICK_PACE, startCore } from '../../host.ts'
import { type Company, company } from '../company.ts'
import { type BadSystem, startBadSystem } from './bad-system.ts'

export type BadCompany = {
  system: BadSystem
  core: CoreHost
  acme: Company
  stop(): Promise<void>
}

/** @param behaves How the system behaves from the beginning. */
export async function startBadCompany(
  behaves?: Parameters<typeof startBadSystem>[0],
  options?: CoreOptions,
): Promise<BadCompany> {
  const system = await startBadSystem(behaves)
  const core = await startCore(system.env, { pace: QUICK_PACE, ...options })
  await core.host.settled
  return {
    system,
    core,
    acme: company(core),
    async stop() {
      await core.stop()
      await system.close()
    },
  }
}
