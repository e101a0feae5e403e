/** All settings with their values in force, for operators. A secret is shown only as set or not. */
import path from 'node:path'
import { keysOf } from '../contract/schema/keys.ts'
import { type Config, isSecretSetting, SETTINGS, type SettingName } from './config.ts'

type SettingInForce = {
  name: string
  meaning: string
  secret: boolean
  /** `derived`: from the address, the database or the machine. */
  source: 'environment' | 'default' | 'derived'
  /** Null for a secret. */
  value: string | null
  /** Whether it has a value. */
  set: boolean
}

/** Parts of a registry's address that are, or may be, credentials. */
const LOGINS = /(?<=\/\/)[^/]*(?=@)|[^/]*:[^/]*(?=@)|(?<=[?#]).*/g

/** DERIVED: settings whose default depends on others, or which are normalised -> value in force. */
const DERIVED: Partial<Record<SettingName, (config: Config) => string | undefined>> = {
  KEYWAY_DATA_DIR: ({ dataDir }) => dataDir,
  KEYWAY_PLUGINS_DIR: ({ pluginDirs }) => pluginDirs.join(path.delimiter),
  KEYWAY_DROP_IN: ({ dropIn }) => dropIn,
  KEYWAY_INSTALL: ({ install }) => install,
  // Credentials in it are refused when it is used, but must still not be printed.
  KEYWAY_REGISTRY: ({ registries }) =>
    registries.map((one) => one.replace(LOGINS, '***')).join(' ') || undefined,
  KEYWAY_PROCESSES: ({ processes }) => String(processes),
}

/** Secrets that are generated into the data directory if they are not set. */
const GENERATED: readonly SettingName[] = ['KEYWAY_SECRET', 'KEYWAY_ADMIN_TOKEN']

export const settingsInForce = (config: Config): SettingInForce[] =>
  keysOf(SETTINGS).map((name) => {
    const { isNamed = false, value = null } = config.read.get(name) ?? {}
    const secret = isSecretSetting(name)
    const isGenerated = GENERATED.includes(name)
    const derived = DERIVED[name]?.(config)
    const inForce = derived ?? value ?? SETTINGS[name].default
    return {
      ...{ name, meaning: SETTINGS[name].meaning, secret },
      source: isNamed
        ? 'environment'
        : derived === undefined && !isGenerated
          ? 'default'
          : 'derived',
      value: secret ? null : inForce,
      set: secret ? isNamed || isGenerated : inForce !== '',
    }
  })
