/** What an operator sets where the host starts, so that a connector reaches its servers: in words to copy. */
import type { HostSetting } from '../../contract/endpoints/installing.ts'
import type { SettingInForce } from '../../contract/endpoints/settings.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { quoted } from '../terminal/quoted.ts'
import { ask } from './change.ts'

/** When each is needed. */
const WHEN: Readonly<Record<HostSetting['name'], string>> = {
  KEYWAY_PRIVATE_EGRESS: 'a server of it is in a private network',
  KEYWAY_PLAIN_LDAP: 'its directory offers no TLS, and may get passwords in plain text',
  KEYWAY_PLAIN_SQL: 'its database offers no TLS, and may be asked in plain text',
}

/** Those that are not set on the host, one line for each setting; none where all are set. */
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
    // With what is set: whoever copies the line loses nothing.
    const value = [...there, ...missing.map(({ entry }) => entry)].join(' ')
    return missing.length === 0 ? [] : [`  where ${WHEN[name]}: ${name}=${quoted(value)}`]
  })
  if (lines.length === 0) return []
  const open = wanted.some((one) => one.open)
  const names = open ? ' (HOST and PORT stand for those of the server)' : ''
  return [`Where it applies, restart the host with${names}:`, ...lines]
}

/** An entry with HOST or PORT is taken for set where the connector has any. */
function isSet({ entry, open }: HostSetting, there: readonly string[]): boolean {
  if (!open) return there.includes(entry)
  const [id = ''] = entry.split('=')
  return there.some((one) => one.startsWith(`${id}=`))
}
