/**
 * Parses the settings that have a syntax of their own, before a start opens the database. A start that fails here has
 * migrated nothing, so the previous version can still use the database.
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

/** @throws ConfigError with the name of the setting and the position in it */
export async function judgeSettings(config: Config): Promise<JudgedSettings> {
  // Only validates the setting. Egress creates its own.
  await setting(() => createChooseProxy(config.proxy))
  return {
    keptDays: await setting(() => parseRetention(config.retention)),
    grants: await setting(() => grantsOf(config)),
    clearGrants: await setting(() => parseClearGrants(config.clearSecrets)),
    providers: await setting(() => readProviders(config.signIn), 'KEYWAY_SIGN_IN: '),
  }
}
