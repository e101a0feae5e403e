/** `keyway login-link`: prints an address that signs a user in to the pages once. */

import { callOperator, findOperator } from './operator/client.ts'
import { terminalJson } from './terminal/json.ts'

type LoginLinkOptions = { email: string; url?: string; json?: true }

export async function loginLink(options: LoginLinkOptions): Promise<void> {
  console.log(await newLoginLink(process.env, options))
}

type Answer = { email: string; path: string; expires_at: string }

/**
 * Has the host create a link.
 *
 * @returns the lines to print
 * @throws ConfigError with the reason and instructions if the link cannot be created
 */
export async function newLoginLink(
  environment: Readonly<Record<string, string | undefined>>,
  { email, url, json }: LoginLinkOptions,
): Promise<string> {
  const target = await findOperator(environment, url)
  const answer = await callOperator<Answer>(target, {
    method: 'POST',
    path: '/operator/login-links',
    contentType: 'application/json',
    body: JSON.stringify({ email }),
  })
  const address = `${target.url.origin}${answer.path}`
  if (json)
    return terminalJson({ email: answer.email, url: address, expires_at: answer.expires_at })
  const minutes = Math.round((Date.parse(answer.expires_at) - Date.now()) / 60_000)
  return `Open this within ${minutes} minutes to sign in as ${answer.email}; it works once:\n\n  ${address}\n`
}
