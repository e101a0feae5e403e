/** A company and a third-party system that misbehaves on command. */
import {
  type CoreHost,
  type CoreOptions,
  type Person,
  person,
  QUICK_PACE,
  startCore,
} from '../../host.ts'
import { type Company, company } from '../company.ts'
import { type BadSystem, startBadSystem } from './bad-system.ts'

export type BadCompany = {
  system: BadSystem
  core: CoreHost
  acme: Company
  /** A new person makes the request, and it is approved. */
  approved(
    body: Parameters<Company['asked']>[1],
  ): Promise<{ id: string; email: string; who: Person }>
  stop(): Promise<void>
}

/** @param behaves Initial behaviour of the system. */
export async function startBadCompany(
  behaves?: Parameters<typeof startBadSystem>[0],
  options?: CoreOptions,
): Promise<BadCompany> {
  const system = await startBadSystem(behaves)
  const core = await startCore(system.env, { pace: QUICK_PACE, ...options })
  await core.host.settled
  const acme = company(core)
  let people = 0
  return {
    system,
    core,
    acme,
    async approved(body) {
      people += 1
      const email = `person-${people}@acme.example`
      const who = await person(core.db, email)
      const id = await acme.asked(who, body)
      await acme.settle(id, 'complete')
      return { id, email, who }
    },
    async stop() {
      await core.stop()
      await system.close()
    },
  }
}
