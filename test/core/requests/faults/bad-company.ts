/** A company with one app whose system behaves as it is told. */
import { type CoreHost, startCore } from '../../host.ts'
import { type Company, company } from '../company.ts'
import { type BadSystem, startBadSystem } from './bad-system.ts'

export type BadCompany = {
  system: BadSystem
  core: CoreHost
  acme: Company
  stop(): Promise<void>
}

/** @param options How the system behaves from the beginning. */
export async function startBadCompany(
  options?: Parameters<typeof startBadSystem>[0],
): Promise<BadCompany> {
  const system = await startBadSystem(options)
  const core = await startCore(system.env)
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
