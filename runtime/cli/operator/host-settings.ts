/** Settings of the host that a connector may need to reach its servers, as lines to copy. */
import type { HostSetting } from '../../contract/endpoints/installing.ts'
import type { SettingInForce } from '../../contract/endpoints/settings.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { quoted } from '../terminal/quoted.ts'
import { ask } from './change.ts'

/** When each setting is needed. */
const WHEN: Readonly<Record<HostSetting['name'], string>> = {
  KEYWAY_PRIVATE_EGRESS: 'one of its servers is in a private network',
  KEYWAY_PLAIN_LDAP: 'its directory offers no TLS and passwords may be sent in plain text',
  KEYWAY_PLAIN_SQL: 'its database offers no TLS and queries may be sent in plain text',
}

/** Returns a line for each setting that is missing on the host. Empty if none is. */
export async function hostSettingLines(
  wanted: readonly HostSetting[],
  flags: ReadFlags,
): Promise<string[]> {
  if (wanted.length === 0) return []
  const { items } = await ask<{ items: SettingInForce[] }>(flags, '/operator/settings')
  const inForce = (name: string) =>
    (items.find((one) => one.name === name)?.value ?? '').split(/\s+/).filter(Boolean)
  const lines = keysOf(WHEN).flatMap((name) => {
    const there = inForce(name)
    const missing = wanted.filter((one) => one.name === name && !isSet(one, there))
    // The line includes what is already set, so that copying it loses nothing.
    const value = [...there, ...missing.map(({ entry }) => entry)].join(' ')
    return missing.length === 0 ? [] : [`  if ${WHEN[name]}: ${name}=${quoted(value)}`]
  })
  if (lines.length === 0) return []
  const open = wanted.some((one) => one.open)
  const names = open ? '; replace HOST and PORT with those of the server' : ''
  return [`Restart the host with the settings that apply${names}:`, ...lines]
}

/**
 * Reports whether an entry is set. An entry with HOST or PORT counts as set if the connector has any entry.
 */
function isSet({ entry, open }: HostSetting, there: readonly string[]): boolean {
  if (!open) return there.includes(entry)
  const [id = ''] = entry.split('=')
  return there.some((one) => one.startsWith(`${id}=`))
}
