/** `keyway rotation`: shows what still needs an older secret of KEYWAY_SECRET. */
import type { Rotation, RotationNeeds } from '../../contract/endpoints/rotation.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'

type RotationFlags = ReadFlags & { endTokens?: boolean; dryRun?: boolean }

/** Description of each count. */
const KINDS: Record<keyof RotationNeeds, string> = {
  api_tokens: 'API tokens; each is renewed when it is used',
  scim_tokens: 'SCIM tokens; each is renewed when its identity provider uses it',
  sessions: 'sessions; they end within eight hours',
  login_links: 'login links; they end within ten minutes',
  apps: 'credentials of apps; hosts reseal them automatically',
  inline_webhooks: 'secrets of inline webhooks; hosts reseal them automatically',
  probes: 'credentials that new versions are tried with; hosts reseal them automatically',
}

export async function rotation(flags: RotationFlags): Promise<void> {
  if (flags.endTokens) return endTokens(flags)
  print(flags, await ask<Rotation>(flags, '/operator/rotation'), words)
}

async function endTokens(flags: RotationFlags): Promise<void> {
  const body = { dry_run: flags.dryRun ?? false }
  const answer = await ask<{ ended: number }>(flags, '/operator/rotation/end-tokens', { body })
  print(flags, answer, ({ ended }) =>
    flags.dryRun
      ? `${ended} tokens would be revoked.`
      : `${ended} tokens were revoked; keyway rotation shows what is left.`,
  )
}

function words(answer: Rotation): string {
  const { newest, since, older, needed, tokens, page_tokens_until, hosts_behind } = answer
  const kinds = entriesOf(needed)
  const left = kinds.filter(([, count]) => count > 0)
  const head = `The newest secret is ${newest}, since ${since}; this host has ${older.length === 0 ? 'no other' : `also ${older.join(', ')}`}.`
  const hosts = hosts_behind.map(({ node, knows_newest }) =>
    knows_newest
      ? `  host ${node} has another secret first: restart it with the newest first`
      : `  host ${node} does not have the newest secret: restart it with both; nothing is renewed until then`,
  )
  const named = tokens.map(
    ({ name, user, last_used_at }) =>
      `    ${name} of ${user}, ${last_used_at === null ? 'never used' : `last used ${last_used_at}`}`,
  )
  const more = needed.api_tokens - tokens.length
  const needs = [
    ...left.flatMap(([kind, count]) => [
      `  ${count} ${KINDS[kind]}`,
      ...(kind === 'api_tokens' ? [...named, ...(more > 0 ? [`    and ${more} more`] : [])] : []),
    ]),
    ...(page_tokens_until === null ? [] : [`  page tokens, until ${page_tokens_until}`]),
    ...hosts,
  ]
  if (answer.safe_to_drop)
    return older.length === 0
      ? `${head}\nNothing needs another secret.`
      : `${head}\nSafe to drop: nothing needs an older secret.`
  const tail =
    needed.api_tokens + needed.scim_tokens > 0
      ? ['Use these tokens, or revoke them with keyway rotation --end-tokens.']
      : []
  const end =
    older.length === 0
      ? 'If there was an older secret, put it back at the end of KEYWAY_SECRET until then.'
      : 'Do not drop an older secret yet.'
  return [head, 'Still needed by:', ...needs, ...tail, end].join('\n')
}
