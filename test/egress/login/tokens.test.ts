/** Tokens of logins, for all calls of the process. */
import { expect, test } from 'vitest'
import { type RuntimeCode, RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import type { Token } from '../../../runtime/egress/call/call.ts'
import { createTokens } from '../../../runtime/egress/login/tokens.ts'
import { manifestOf } from '../fixtures/open-egress.ts'

const TOKEN: Token = { value: 'a-token', madeMs: 0, goodUntilMs: Infinity }
const never = new AbortController().signal

test.each<RuntimeCode>(['caller_gone', 'upstream_timeout', 'upstream_paced'])(
  'a login that failed with %s for another call is retried by a call that waited for it',
  async (code) => {
    const { get } = createTokens(Date.now)
    const manifest = manifestOf([])
    const fails = async (): Promise<Token> => {
      throw new RuntimeError(code, 'for the other call alone')
    }
    const first = get(manifest, 'tenant', fails, never)
    const second = get(manifest, 'tenant', async () => TOKEN, never)
    await expect(first).rejects.toMatchObject({ code })
    expect(await second).toBe(TOKEN)
  },
)
