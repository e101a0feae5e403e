/** Addresses that mail may be sent to. */
import { MAX_ADDRESS } from '../../contract/endpoints/mail.ts'

/** One address and nothing else: no name, no list, no quotes, no comment. */
const ONE = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u

/** The same mailbox, as most servers see it: without case, and without what stands behind a `+`. */
const mailbox = (address: string): string =>
  address
    .toLowerCase()
    .normalize('NFKC')
    .replace(/\+[^@]*@/, '@')

/** Why no mail is sent to an address; null where it may be. `from` is where mail comes from: it would answer itself. */
export function addressRefusal(address: string, from: string): string | null {
  if (address.length > MAX_ADDRESS || !ONE.test(address)) return 'this is no address of mail'
  if (mailbox(address) === mailbox(from))
    return 'mail comes from this address, so none is sent to it'
  return null
}
