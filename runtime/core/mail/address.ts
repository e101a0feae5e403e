/** Addresses to which mail may be sent. */
import { MAX_ADDRESS } from '../../contract/endpoints/mail.ts'

/** Exactly one address: no name, list, quotes or comment. */
const ONE = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u

/** Returns the mailbox of an address, as most servers see it: lower case, without a `+` suffix. */
const mailbox = (address: string): string =>
  address
    .toLowerCase()
    .normalize('NFKC')
    .replace(/\+[^@]*@/, '@')

/**
 * Returns why no mail is sent to an address, or null if it may be sent. `from` is the sender's address, which
 * must not mail itself.
 */
export function addressRefusal(address: string, from: string): string | null {
  if (address.length > MAX_ADDRESS || !ONE.test(address)) return 'this is not a mail address'
  if (mailbox(address) === mailbox(from))
    return 'this is the sender’s address, so no mail is sent to it'
  return null
}
