/**
 * Settings that have a form of their own, read before anything is begun: a start that they refuse leaves the database as
 * it was, so that the version before can go on with it.
 */
import { type Config, setting } from '../config/config.ts'
import { parseClearGrants } from '../connectors/registry/clear-grants.ts'
import type { KnownProvider } from '../contract/models/sign-in-provider.ts'
import { parseRetention } from '../core/retention/rules.ts'
import { createChooseProxy } from '../egress/dial/proxy.ts'
import { grantsOf } from '../egress/limits/grants.ts'
import { readProviders } from './sign-in-providers.ts'

type JudgedSettings = {
  keptDays: ReturnType<typeof parseRetention>
  grants: ReturnType<typeof grantsOf>
  clearGrants: ReturnType<typeof parseClearGrants>
  providers: readonly KnownProvider[]
}

/** @throws ConfigError that names the setting, and the place in it */
export async function judgeSettings(config: Config): Promise<JudgedSettings> {
  // The door makes its own of what was judged.
  await setting(() => createChooseProxy(config.proxy))
  return {
    keptDays: await setting(() => parseRetention(config.retention)),
    grants: await setting(() => grantsOf(config)),
    clearGrants: await setting(() => parseClearGrants(config.clearSecrets)),
    providers: await setting(() => readProviders(config.signIn), 'KEYWAY_SIGN_IN: '),
  }
}
