/** Starts a real WordPress for tests, and causes faults through plugins. */
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { installSystem, missing, type RealSystem } from './start.ts'

type Basic = { username: string; password: string }

const tools = missing('apt-get', 'dpkg')
const installed = tools === null ? await installSystem<Basic>('wordpress') : { why: tools }

/** Why WordPress cannot run here; null if it can. */
export const noWordPress: string | null = 'why' in installed ? installed.why : null

/** A user as returned by WordPress itself. */
export type WordPressUser = { id: number; username: string; email: string; roles: string[] }

export type WordPress = Awaited<ReturnType<typeof startWordPress>>

/** Starts a site of 152 users (2 to 4 s; the first time on a machine 10 s and more). */
export async function startWordPress(env: Record<string, string> = {}) {
  if ('why' in installed) throw new Error(installed.why)
  // The cast is safe: the script prints these fields in addition to those of every system.
  const site = (await installed.system.start(env)) as RealSystem<Basic> & { plugins: string }
  const { baseUrl, auth } = site
  const authorization = `Basic ${btoa(`${auth.username}:${auth.password}`)}`
  let faults = 0

  /** Calls WordPress directly, to check the effect of a call. */
  const ask = async (route: string, init: RequestInit = {}) => {
    const [at = '', query = ''] = route.split('?')
    const reply = await fetch(`${baseUrl}/?rest_route=${at}&${query}`, {
      headers: { authorization, 'content-type': 'application/json' },
      ...init,
    })
    return { status: reply.status, body: await reply.json() }
  }
  return {
    baseUrl,
    auth,
    stop: site.stop,
    ask,
    /** The user with a login; undefined when there is none. */
    async user(login: string): Promise<WordPressUser | undefined> {
      const { body } = await ask(`/wp/v2/users?context=edit&per_page=100&search=${login}`)
      return (body as WordPressUser[]).find((one) => one.username === login)
    },
    /** Calls REST as a person with a separate application password. */
    async personal(email: string) {
      const search = encodeURIComponent(email)
      const { body: found } = await ask(`/wp/v2/users?context=edit&search=${search}`)
      const [{ id, username } = { id: 0, username: '' }] = found as WordPressUser[]
      const { body } = await ask(`/wp/v2/users/${id}/application-passwords`, {
        method: 'POST',
        body: JSON.stringify({ name: 'theirs' }),
      })
      // The cast is safe: the documented answer for a new password.
      const { password } = body as { password: string }
      return (method: string, route: string, json: object) =>
        ask(route, {
          method,
          headers: {
            authorization: `Basic ${btoa(`${username}:${password}`)}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(json),
        })
    },
    /** Whether a person can sign in at the login page. */
    async signsIn(log: string, pwd: string): Promise<boolean> {
      const reply = await fetch(`${baseUrl}/wp-login.php`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
        body: new URLSearchParams({ log, pwd, testcookie: '1' }),
      })
      return reply.status === 302
    },
    /** Runs a callback while the site runs a plugin of this PHP. */
    async with<T>(php: string, act: () => Promise<T>): Promise<T> {
      // A new name each time: PHP caches files for some seconds.
      const file = path.join(site.plugins, `fault-${++faults}.php`)
      await writeFile(file, `<?php\n${php}\n`)
      try {
        return await act()
      } finally {
        await rm(file)
      }
    },
  }
}
