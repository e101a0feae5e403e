/** Every setting with what is in force, for operators: a secret only as whether it is set. */
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
  /** Whether there is anything. */
  set: boolean
}

/** What is a login, or may be one, in an address of a registry. */
const LOGINS = /(?<=\/\/)[^/]*(?=@)|[^/]*:[^/]*(?=@)|(?<=[?#]).*/g

/** DERIVED: settings whose default follows from others, or is written in another way -> what is in force. */
const DERIVED: Partial<Record<SettingName, (config: Config) => string | undefined>> = {
  KEYWAY_DATA_DIR: ({ dataDir }) => dataDir,
  KEYWAY_PLUGINS_DIR: ({ pluginDirs }) => pluginDirs.join(path.delimiter),
  KEYWAY_DROP_IN: ({ dropIn }) => dropIn,
  KEYWAY_INSTALL: ({ install }) => install,
  // A login in it is refused once it is used; it must not be printed all the same.
  KEYWAY_REGISTRY: ({ registries }) =>
    registries.map((one) => one.replace(LOGINS, '***')).join(' ') || undefined,
  KEYWAY_PROCESSES: ({ processes }) => String(processes),
}

/** Secrets that are generated into the data directory where they are not given. */
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
