/** Rules that settings share. */
import { isIP } from 'node:net'
import * as v from 'valibot'

/** A whole number between two, as text. */
export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^[0-9]+$/, 'is not a whole number'),
    v.check(
      (digits) => Number(digits) >= min && Number(digits) <= max,
      `is not between ${min} and ${max}`,
    ),
  )

/** An address that begins so, or nothing. */
const address = (prefix: RegExp, message: string) =>
  v.pipe(
    v.string(),
    v.check((given) => {
      // PostgreSQL's may leave the host to a parameter, where its socket is named.
      const url = URL.parse(given.replace('@/', '@localhost/'))
      return given === '' || (url !== null && prefix.test(given))
    }, message),
  )

/** Whether a PostgreSQL address has a list of hosts, as libpq takes it: the driver here would take it for one name. */
const namesSeveral = (given: string): boolean =>
  /^[a-z]+:\/\/([^/?]*@|(?![^/?]*@))[^/?@]*,/.test(given) || /[?&]host=[^&]*(,|%2c)/i.test(given)

/** The address of a PostgreSQL server, or nothing. */
export const databaseAddress = v.pipe(
  v.string(),
  v.check(
    (given) => !namesSeveral(given),
    'names several servers: name one address that always leads to the primary (the deploy page says how)',
  ),
  address(/^postgres(ql)?:\/\//, 'is not a postgres:// address'),
)

/** A text with which a function finds nothing wrong. */
export const judgedBy = (wrong: (given: string) => string | null) =>
  v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? wrong(dataset.value) : null
      if (message !== null) addIssue({ message })
    }),
  )

/** Whether a text is an address, or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0 || address.includes('%')) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

/** The parts of a text that are not empty. */
export function list(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

type Proxy = Readonly<{ httpsProxy: string | null; httpProxy: string | null; noProxy: string }>

/** The proxies; null for none. */
export function proxyOf(httpsProxy: string, httpProxy: string, noProxy: string): Proxy | null {
  if (httpsProxy === '' && httpProxy === '') return null
  return Object.freeze({ httpsProxy: httpsProxy || null, httpProxy: httpProxy || null, noProxy })
}

/** How many processes serve unless it is set: workers and the database need cores too. */
export const processesFor = (cores: number): number =>
  Math.min(4, Math.max(1, Math.floor(cores / 2)))

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
