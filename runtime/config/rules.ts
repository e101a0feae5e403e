/** Rules shared by settings. */
import { isIP } from 'node:net'
import * as v from 'valibot'

/** Rule for a whole number in a range, as text. */
export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^[0-9]+$/, 'is not a whole number'),
    v.check(
      (digits) => Number(digits) >= min && Number(digits) <= max,
      `is not between ${min} and ${max}`,
    ),
  )

/** Rule for an address with a given prefix, or nothing. */
const address = (prefix: RegExp, message: string) =>
  v.pipe(
    v.string(),
    v.check((given) => {
      // A PostgreSQL address may name its socket in a parameter and have no host.
      const url = URL.parse(given.replace('@/', '@localhost/'))
      return given === '' || (url !== null && prefix.test(given))
    }, message),
  )

/**
 * Reports whether a PostgreSQL address lists several hosts, as libpq allows. The driver used here would take
 * the list as one name.
 */
const namesSeveral = (given: string): boolean =>
  /^[a-z]+:\/\/([^/?]*@|(?![^/?]*@))[^/?@]*,/.test(given) || /[?&]host=[^&]*(,|%2c)/i.test(given)

/** Rule for the address of a PostgreSQL server, or nothing. */
export const databaseAddress = v.pipe(
  v.string(),
  v.check(
    (given) => !namesSeveral(given),
    'names several servers: use one address that always leads to the primary (see the deploy page)',
  ),
  address(/^postgres(ql)?:\/\//, 'is not a postgres:// address'),
)

/** Rule for a text that a function accepts by returning null. */
export const judgedBy = (wrong: (given: string) => string | null) =>
  v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? wrong(dataset.value) : null
      if (message !== null) addIssue({ message })
    }),
  )

/** Reports whether a text is an address, or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0 || address.includes('%')) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

/** Splits a text and returns its non-empty parts. */
export function list(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

type Proxy = Readonly<{ httpsProxy: string | null; httpProxy: string | null; noProxy: string }>

/** Returns the proxies, or null if there are none. */
export function proxyOf(httpsProxy: string, httpProxy: string, noProxy: string): Proxy | null {
  if (httpsProxy === '' && httpProxy === '') return null
  return Object.freeze({ httpsProxy: httpsProxy || null, httpProxy: httpProxy || null, noProxy })
}

/** Returns the default number of processes: workers and the database need cores too. */
export const processesFor = (cores: number): number =>
  Math.min(4, Math.max(1, Math.floor(cores / 2)))

/** Reports whether an address can be reached only from this machine. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
